"""``Judge``: a judge loaded from its file, for a notebook, a script or a command; and its askers."""

from __future__ import annotations

import tempfile
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from coeval.datasets.tables.instances import document_of
from coeval.domain import ImportedDraft, Instance
from coeval.errors import InputError, ModelError
from coeval.extensions.judge.model.file_schema import KEPT_SETTINGS, Asking, JudgeFile
from coeval.extensions.judge.model.judge_file import load_judge
from coeval.extensions.judge.model.labels import tabulate_answers
from coeval.llm.prompting.questions import Example, mark_document, with_examples
from coeval.llm.prompting.template_files import JudgeOptions
from coeval.llm.protocols.protocol import Brief, Item, Protocol, build_protocol, get_protocol
from coeval.llm.running.judgment_table import Bar, read_instances, run_apart
from coeval.llm.running.ledger import Prices
from coeval.llm.running.pool import Judged, Outcome
from coeval.llm.running.runner import Runner, build_runner, judge_all
from coeval.settings import Settings, load_settings
from coeval.store import Store
from coeval.store.queries.calls import StoredLedger

if TYPE_CHECKING:
    import pandas as pd


class Asker:
    """One of a judge's models, with its settings from the file.

    ``protocol`` shows all examples, and ``plain`` none. ``beside`` returns the protocol for an instance, without
    examples from its document. Raises InputError if the protocol does not score single outputs, or if this
    version's prompt has another hash than the file's.
    """

    def __init__(self, judge: JudgeFile, asking: Asking, templates: Path) -> None:
        base = get_protocol(asking.protocol)
        if base.compares or base.uses_assistants:
            raise InputError(
                f"The protocol {asking.protocol} of “{asking.judge}” does not score single outputs."
            )
        self._judge = judge
        self._options = _build_options(asking, templates)
        self._criteria = {number: each.build() for number, each in enumerate(judge.criteria, 1)}
        self._task = judge.task.build()
        self._known: dict[tuple[Example, ...], Protocol] = {}
        self.protocol, self.plain = self._with(judge.fitted.examples), self._with(())
        if self.protocol.prompt_hash != asking.prompt_hash:
            raise InputError(
                f"The prompt texts of “{asking.judge}” have changed (hash "
                f"{self.protocol.prompt_hash[:12]}, not {asking.prompt_hash[:12]}): download the file "
                "again."
            )

    def beside(self, instance: Instance) -> Protocol:
        """Return the protocol for an instance, without examples that share its document or its texts."""
        mark = mark_document(document_of(instance), self._judge.salt)
        shown = (
            example
            for example in self._judge.fitted.examples
            if example.document != mark
            and (example.input, example.output) != (instance.input, instance.output)
        )
        return self._with(tuple(shown))

    def _with(self, examples: tuple[Example, ...]) -> Protocol:
        if examples not in self._known:
            by_text = _by_criterion(examples)
            criteria = {
                number: with_examples(criterion, by_text.get(criterion.text, ()), self._task)
                for number, criterion in self._criteria.items()
            }
            self._known[examples] = build_protocol(Brief(self._task, criteria, self._options))
        return self._known[examples]


def _by_criterion(examples: Sequence[Example]) -> dict[str, list[Example]]:
    grouped: dict[str, list[Example]] = {}
    for example in examples:
        grouped.setdefault(example.criterion, []).append(example)
    return grouped


def _build_options(asking: Asking, templates: Path) -> JudgeOptions:
    judge = {name: getattr(asking, name) for name in KEPT_SETTINGS}
    return JudgeOptions(**judge, templates=templates, steps=asking.steps)


@contextmanager
def open_askers(judge: JudgeFile) -> Iterator[Mapping[str, Asker]]:
    """Yield a judge's askers by name. Their prompt texts are in a temporary folder for that time.

    Raises:
        InputError: a protocol is unknown, or the prompt texts do not match their hash.
    """
    with tempfile.TemporaryDirectory(prefix="coeval-judge-") as folder:
        askers = {}
        for place, asking in enumerate(judge.judges):
            texts = Path(folder, str(place))
            texts.mkdir()
            for name, text in asking.templates.items():
                (texts / f"{name}.md").write_text(text, encoding="utf-8", newline="\n")
            askers[asking.judge] = Asker(judge, asking, texts)
        yield askers


LEDGER = "coeval-ledger.db"
COLUMNS = (
    "instance", "document", "system", "criterion", "raw", "score", "spread", "ask_person", "reason",
)  # fmt: skip
"""Columns of scored outputs, with the score before and after calibration, and whether a person should check it."""
REMEDY = "Run it again: what was answered is in the ledger."


@dataclass(frozen=True, slots=True)
class Asked:
    """How a judge asks its models: the ledger, the endpoint's settings, and whether to show progress.

    With ``replay``, nothing is sent: only answers in the ledger are used, those of ``endpoint`` ("": of any
    endpoint). A ``concurrency`` of 0 means that of the settings.
    """

    ledger: Path = Path(LEDGER)
    settings: Settings = field(default_factory=load_settings)
    progress: bool = True
    concurrency: int = 0
    prices: Prices = field(default_factory=Prices)
    replay: bool = False
    endpoint: str = ""

    def build_runner(self) -> Runner:
        """Return a runner that asks the judge's models in this way."""
        return build_runner(
            self.settings,
            StoredLedger(Store(self.ledger)),
            concurrency=self.concurrency or self.settings.concurrency,
            prices=self.prices,
            replay=self.replay,
            endpoint=self.endpoint,
        )


class Judge:
    """A judge from its file. Loading it sends no request and runs no code from the file."""

    def __init__(self, file: JudgeFile) -> None:
        self.file = file

    @classmethod
    def load(cls, path: str | Path) -> Judge:
        """Return the judge in a file.

        Raises:
            InputError: the file is not a judge, has another version, or was changed; one sentence says why.
        """
        return cls(load_judge(path))

    def score(
        self,
        frame: pd.DataFrame,
        *,
        ledger: str | Path = LEDGER,
        progress: bool = True,
        settings: Settings | None = None,
        concurrency: int = 0,
        replay: bool = False,
    ) -> pd.DataFrame:
        """Score every row of a table on every criterion.

        Args:
            frame: a table with the columns ``input`` and ``output``, optionally ``instance`` (an id; by default the
                index), ``document``, ``system`` and ``reference``, and the other columns that the judge may see.
            ledger: the SQLite file that stores every answer, so that a repetition sends no request.
            progress: show a progress bar.
            settings: the endpoint; by default from the environment.
            replay: use only answers from the ledger.

        Returns:
            One row for each row of ``frame`` and criterion, in this order: ``instance``, ``document``, ``system``,
            ``criterion``, ``raw`` (the judge's score, nan if unreadable), ``score`` (on people's scale), ``spread``
            (the standard deviation of its answers, nan if fewer than two), ``ask_person`` (whether a person should
            check the line: by the fitted threshold, or because there is no score) and ``reason`` (why there is no
            score).

        Raises:
            InputError: a column is missing, or an id occurs twice.
            ModelError: no model is set up, or the run was stopped; earlier answers are in the ledger.
        """
        asked = Asked(Path(ledger), settings or load_settings(), progress, concurrency, replay=replay)
        return self.score_instances(read_instances(frame), asked)[list(COLUMNS)]

    def score_instances(self, instances: Sequence[Instance], asked: Asked) -> pd.DataFrame:
        """Score instances like ``score``, and add ``answers``, which has the scores from single answers.

        The table's attribute ``rungs`` counts the drafts by the rung of their score; unscored drafts have the rung "".
        """
        stop = threading.Event()
        return run_apart(partial(self.score_later, instances, asked, stop), stop)

    async def score_later(
        self, instances: Sequence[Instance], asked: Asked, stop: threading.Event | None = None
    ) -> pd.DataFrame:
        """Score like ``score``, inside a running event loop."""
        numbered = {number: replace(instance, id=number) for number, instance in enumerate(instances, 1)}
        drafts: dict[tuple[str, int, int], ImportedDraft] = {}
        with open_askers(self.file) as askers:
            for name, asker in askers.items():
                await self._ask(name, asker, numbered, asked, drafts, stop or threading.Event())
        return self._build_table(numbered, drafts)

    async def _ask(
        self,
        name: str,
        asker: Asker,
        instances: Mapping[int, Instance],
        asked: Asked,
        drafts: dict[tuple[str, int, int], ImportedDraft],
        stop: threading.Event,
    ) -> None:
        def store(outcomes: Sequence[Outcome[Item, Judged]]) -> None:
            for outcome in outcomes:
                for number, draft in drafts_of(outcome):
                    drafts[name, outcome.item.instance, number] = draft

        async with asked.build_runner() as runner:
            with Bar(asked.progress, name) as bar:
                summary = await judge_all(
                    asker.protocol,
                    runner,
                    instances,
                    REMEDY,
                    on_result=store,
                    protocol_of=asker.beside,
                    should_stop=stop.is_set,
                    on_progress=bar.show,
                )
        if summary.stopped:
            raise ModelError(f"{summary.stopped} The answers so far are saved: run it again to continue.")

    def _build_table(
        self, instances: Mapping[int, Instance], drafts: Mapping[tuple[str, int, int], ImportedDraft]
    ) -> pd.DataFrame:
        import pandas as pd

        criteria = {number: each.text for number, each in enumerate(self.file.criteria, 1)}
        judges = tabulate_answers(
            (instance, criteria[by], name, draft.score, draft.samples, draft.probabilities)
            for (name, instance, by), draft in drafts.items()
        )
        scored = self.file.fitted.apply(judges).set_index(["instance", "criterion"])
        samples = pd.Series([draft.samples for draft in drafts.values()], judges.index, dtype=object)
        scored["answers"] = self.file.fitted.apply_each(judges.assign(samples=samples))
        lines = pd.DataFrame(
            [
                {
                    "instance": number,
                    "criterion": text,
                    "external": item.external_id,
                    "document": document_of(item),
                    "system": item.system,
                    "reason": _reason(drafts[name, number, by] for name in self._names),
                }
                for number, item in instances.items()
                for by, text in criteria.items()
            ]
        )
        table = lines.join(scored, on=["instance", "criterion"])
        for_people = table["ask_person"].astype(bool) | table["score"].isna()
        table = table.assign(instance=table["external"], ask_person=for_people)[[*COLUMNS, "answers"]]
        table.attrs["rungs"] = dict(Counter(draft.rung for draft in drafts.values()))
        return table

    @property
    def _names(self) -> list[str]:
        return [asking.judge for asking in self.file.judges]


def drafts_of(outcome: Outcome[Item, Judged]) -> Iterable[tuple[int, ImportedDraft]]:
    """Return the drafts of an item by criterion. A failed item has unscored drafts with the reason."""
    if outcome.result is not None:
        return outcome.result.judgment.drafts.items()
    return ((number, ImportedDraft("", "", None, reason=outcome.error)) for number in outcome.item.criteria)


def _reason(drafts: Iterable[ImportedDraft]) -> str:
    """Return the reason for a missing score, from any of the judges."""
    return " ".join(dict.fromkeys(draft.reason for draft in drafts if draft.score is None and draft.reason))
