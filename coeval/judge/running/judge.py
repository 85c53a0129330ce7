"""``Judge``: a judge from its file, in a notebook, a script or a command."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from coeval.domain import ImportedDraft, Instance
from coeval.errors import ModelError
from coeval.judge.answers import tabulate_answers
from coeval.judge.artifact.judge_file import load_judge
from coeval.judge.artifact.schema import JudgeFile
from coeval.judge.running.asker import Asker, document_of, open_askers
from coeval.judge.running.judging_tables import Bar, read_instances, run_apart
from coeval.llm.protocols.protocol import Item
from coeval.llm.running.judging import Judged, judge_all
from coeval.llm.running.ledger import Prices
from coeval.llm.running.pool import Outcome
from coeval.llm.running.runner import build_runner
from coeval.settings import Settings, load_settings
from coeval.store import Store
from coeval.store.queries.drafting.calls import StoredLedger

if TYPE_CHECKING:
    import pandas as pd

LEDGER = "coeval-ledger.db"
COLUMNS = (
    "instance", "document", "system", "criterion", "raw", "score", "spread", "ask_person", "reason",
)  # fmt: skip
"""Columns of scored outputs: the score before and after calibration, and whether a person should look."""
REMEDY = "Run it again: what was answered is in the ledger."


@dataclass(frozen=True, slots=True)
class Asked:
    """How the model is asked: where, where its answers are kept, and what is shown meanwhile.

    ``endpoint`` is the one whose answers a ``replay`` takes; empty for any.
    """

    ledger: Path = Path(LEDGER)
    settings: Settings = field(default_factory=load_settings)
    progress: bool = True
    concurrency: int = 0
    prices: Prices = field(default_factory=Prices)
    replay: bool = False
    endpoint: str = ""


class Judge:
    """A judge as its file describes it. Reading one asks nothing and runs nothing that stands in the file."""

    def __init__(self, file: JudgeFile) -> None:
        self.file = file

    @classmethod
    def load(cls, path: str | Path) -> Judge:
        """The judge of a file.

        Raises:
            InputError: the file is none, or of another version; one sentence says why.
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
        """Score every row of a table by every criterion.

        Args:
            frame: has the columns ``input`` and ``output``, and may have ``instance`` (an id; else the index is it),
                ``document``, ``system`` and ``reference``, and the columns that the judge was made to see.
            ledger: the SQLite file that keeps every answer, so that the same again sends nothing.
            progress: shows a bar.
            settings: the endpoint; by default as the environment says.
            replay: answers from the ledger alone.

        Returns:
            One row for each row of ``frame`` and criterion, in their order: ``instance``, ``document``, ``system``,
            ``criterion``, ``raw`` (the judge's score, nan where none could be read), ``score`` (on people's scale),
            ``spread`` (the standard deviation of its answers, nan under two), ``ask_person`` (whether a person should
            look: by what was fitted, and wherever there is no score) and ``reason`` (why there is no score).

        Raises:
            InputError: a column is missing, or an id stands there twice.
            ModelError: no model is set up, or the run was stopped; what was answered until then is in the ledger.
        """
        asked = Asked(Path(ledger), settings or load_settings(), progress, concurrency, replay=replay)
        return self.score_instances(read_instances(frame), asked)

    def score_instances(self, instances: Sequence[Instance], asked: Asked) -> pd.DataFrame:
        """As ``score``, for instances."""
        stop = threading.Event()
        return run_apart(partial(self.score_later, instances, asked, stop), stop)

    async def score_later(
        self, instances: Sequence[Instance], asked: Asked, stop: threading.Event | None = None
    ) -> pd.DataFrame:
        """As ``score``, in an event loop that runs already."""
        numbered = {number: replace(one, id=number) for number, one in enumerate(instances, 1)}
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

        runner = build_runner(
            asked.settings,
            StoredLedger(Store(asked.ledger)),
            concurrency=asked.concurrency or asked.settings.concurrency,
            prices=asked.prices,
            replay=asked.replay,
            endpoint=asked.endpoint,
        )
        async with runner:
            with Bar(asked.progress, name) as bar:
                summary = await judge_all(
                    asker.protocol,
                    runner,
                    instances,
                    REMEDY,
                    on_result=store,
                    protocol_of=asker.beside,
                    replay=asked.replay,
                    should_stop=stop.is_set,
                    on_progress=bar.show,
                )
        if summary.stopped:
            raise ModelError(f"{summary.stopped} What was answered is in the ledger: run it again to go on.")

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
        lines = pd.DataFrame(
            [
                {
                    "instance": number,
                    "criterion": text,
                    "external": one.external_id,
                    "document": document_of(one),
                    "system": one.system,
                    "reason": _reason(drafts[name, number, by] for name in self._names),
                }
                for number, one in instances.items()
                for by, text in criteria.items()
            ]
        )
        table = lines.join(scored, on=["instance", "criterion"])
        for_people = table["ask_person"].astype(bool) | table["score"].isna()
        return table.assign(instance=table["external"], ask_person=for_people)[list(COLUMNS)]

    @property
    def _names(self) -> list[str]:
        return [asking.judge for asking in self.file.judges]


def drafts_of(outcome: Outcome[Item, Judged]) -> Iterable[tuple[int, ImportedDraft]]:
    """What came of an item, by its criteria; where nothing came, why."""
    if outcome.result is not None:
        return outcome.result.judgment.drafts.items()
    return ((number, ImportedDraft("", "", None, reason=outcome.error)) for number in outcome.item.criteria)


def _reason(drafts: Iterable[ImportedDraft]) -> str:
    """Why a score is missing, of any of the judges."""
    return " ".join(dict.fromkeys(draft.reason for draft in drafts if draft.score is None and draft.reason))
