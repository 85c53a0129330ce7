"""``judge_frame`` judges a table of texts in a notebook or a script, and returns a table of judgments.

The judge is that of ``python -m coeval draft evaluations``, with the same options but without a study. A
ledger file keeps every answer, so repeating a call sends no new requests.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import asdict, dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coeval.datasets.tables.instances import document_of
from coeval.domain import Ask, Comparison, Criterion, ImportedDraft, Instance, RowKind, Scale, Task
from coeval.errors import InputError, ModelError
from coeval.llm.prompting.presets import get_preset
from coeval.llm.proposals import draft_steps
from coeval.llm.protocols.protocol import Brief, Item, Protocol, build_protocol, get_protocol
from coeval.llm.reading.evaluations import OVERALL
from coeval.llm.running.judgment_table import NO_OUTPUT, Bar, find_missing, read_instances, run_apart
from coeval.llm.running.pool import Judged, Outcome
from coeval.llm.running.progress import Summary
from coeval.llm.running.runner import judge_all
from coeval.settings import Settings, load_settings
from coeval.store import Store
from coeval.usecases.access import Context
from coeval.usecases.drafting.model_requests import build_runner
from coeval.usecases.drafting.run_settings import RunSettings

if TYPE_CHECKING:
    import pandas as pd

    from coeval.llm.running.judgment_table import Judgments

LEDGER = "coeval-ledger.db"
COLUMNS = (
    "instance", "document", "system", "criterion", "score", "conclusion", "evidence", "not_found", "samples",
    "probabilities", "rung", "reason", "raw",
)  # fmt: skip
DESCRIPTION = "Judge the output as an answer to the input."
"""The default task description for a table."""
REMEDY = "Run it again with another model, protocol or template."
_OF_A_STUDY = {"model", "label", "limit", "retry_unscored"}
"""Settings that apply only to a run of a study, or that are separate arguments of ``judge_frame``."""


def judge_frame(
    frame: pd.DataFrame,
    criteria: Sequence[str | Criterion] | Mapping[str, str],
    model: str = "",
    *,
    task: str | Task = DESCRIPTION,
    ledger: str | Path = LEDGER,
    progress: bool = True,
    settings: Settings | None = None,
    **options: Any,
) -> Judgments:
    """Judge every row of a table by every criterion.

    Args:
        frame: has the columns ``input`` and ``output``, and may have ``instance`` (an id; the index by
            default), ``reference``, ``document`` and ``system``. The judge does not see other columns, but
            they can be assistants of a fusion (``assistants=["bleurt:-2:1"]``). A row whose output is missing
            (None, nan) is not judged and has no score.
        criteria: texts, which use the task's scale; or ``Criterion`` values with their own scales; or a dict
            of names and texts.
        model: its name at the endpoint; empty for the model that the environment names.
        task: a description of the purpose of the outputs, or a whole ``Task``.
        ledger: the SQLite file that keeps every answer; created if it does not exist.
        progress: shows a progress bar, in a terminal and in a notebook.
        settings: the endpoint; by default from the environment (``OPENAI_API_KEY``, ``OPENAI_BASE_URL``).
        **options: the options of ``draft evaluations``, by name: ``preset``, ``protocol``, ``samples``,
            ``temperature``, ``top_p``, ``max_tokens``, ``persona``, ``steps``, ``assistants``, ``plan``,
            ``replay``...

    Returns:
        One row for each row of ``frame`` and criterion, in their order: ``instance``, ``document`` (derived
        from the input if the table has none), ``system``, ``criterion`` (its text), ``score`` (nan if none
        could be read), ``conclusion``, ``evidence`` (a tuple of lines), ``not_found`` (a tuple of quotations
        that are not in the output), ``samples`` (a tuple of scores, if more than one answer was requested),
        ``probabilities`` (of the scale's steps, lowest first, from decisions or log-probabilities),
        ``reason`` (why there is no score, and other remarks) and ``raw`` (the model's own words). A fusion
        adds a row ``overall`` for each instance. The protocol ``pairwise`` gives a row for each instance,
        each ``other`` of its document and criterion: the score is 1 if the instance, shown first, is
        preferred, 0 if the other is, and .5 for a tie. ``summary()`` gives the means by system with
        intervals, ``usage`` the calls, tokens and cost of this run.

    Raises:
        InputError: a column is missing, an id occurs twice, the task has no description, or an option is
            unknown.
        ModelError: no model is set up, or the run was stopped; the ledger keeps the answers received so far.
    """
    judging = _read_call(frame, criteria, model, task, ledger, settings, options)
    stop = threading.Event()
    return run_apart(partial(judging.run, progress, stop.is_set), stop).build_table()


def _read_call(
    frame: pd.DataFrame,
    criteria: Sequence[str | Criterion] | Mapping[str, str],
    model: str,
    task: str | Task,
    ledger: str | Path,
    settings: Settings | None,
    options: Mapping[str, Any],
) -> _Judging:
    instances = read_instances(frame, missing=True)
    whole = task if isinstance(task, Task) else Task("frame", "Judging a table", task)
    if not whole.description.strip():
        raise InputError("The task has no description: describe it, such as task='Answer the question.'.")
    members = _read_criteria(criteria, whole.scale)
    environment = settings or load_settings()
    run = _read_options(options, model).complete(environment)
    context = Context(Store(Path(ledger)), environment)
    numbered = {n: replace(instance, id=n) for n, instance in enumerate(instances, 1)}
    missing = {place + 1 for place in find_missing(frame)}
    return _Judging(context, whole, dict(enumerate(members, 1)), numbered, run, missing)


def _read_criteria(given: Sequence[str | Criterion] | Mapping[str, str], scale: Scale) -> list[Criterion]:
    if isinstance(given, Mapping):
        members = [Criterion(text, name=name, scale=scale) for name, text in given.items()]
    else:
        members = [
            member if isinstance(member, Criterion) else Criterion(member, scale=scale) for member in given
        ]
    if not members or len({member.text for member in members}) < len(members):
        raise InputError("The list of criteria is empty or names one twice: give each criterion once.")
    return members


def _read_options(options: Mapping[str, Any], model: str) -> RunSettings:
    names = {"preset"} | {member.name for member in fields(RunSettings)} - _OF_A_STUDY
    if unknown := sorted(set(options) - names):
        raise InputError(
            f"There is no option {', '.join(unknown)}; the options are {', '.join(sorted(names))}."
        )
    values = dict(options)
    if preset := values.pop("preset", ""):
        values = dict(get_preset(preset).settings) | values
    if "assistants" in values:
        values["assistants"] = tuple(values["assistants"])
    return RunSettings(model=model, **values)


@dataclass(slots=True)
class _Results:
    """Collects the result of every pair, and how the run ended."""

    rows: dict[tuple[int, int, int], dict[str, object]]
    compares: bool
    summary: Summary

    def build_table(self) -> Judgments:
        from coeval.llm.running.judgment_table import USAGE, Judgments

        if self.summary.stopped:
            raise ModelError(
                f"{self.summary.stopped} The answers so far are saved: call it again to continue."
            )
        columns = [*COLUMNS[:1], "other", *COLUMNS[1:]] if self.compares else COLUMNS
        table = Judgments([self.rows[key] for key in sorted(self.rows)], columns=list(columns))
        table.attrs[USAGE] = asdict(self.summary.usage)
        return table


class _Judging:
    """One call: its instances and criteria, numbered, and the result of each pair."""

    def __init__(
        self,
        context: Context,
        task: Task,
        criteria: Mapping[int, Criterion],
        instances: Mapping[int, Instance],
        run: RunSettings,
        missing: Set[int],
    ) -> None:
        self.context, self.task, self.run_settings = context, task, run
        self.criteria = criteria
        self.instances = {number: instance for number, instance in instances.items() if number not in missing}
        nothing = ImportedDraft("", "", None, reason=NO_OUTPUT)
        self.rows: dict[tuple[int, int, int], dict[str, object]] = {
            (number, by, 0): _row(instances[number], criterion.text, nothing)
            for number in missing
            for by, criterion in criteria.items()
        }

    async def run(self, progress: bool, should_stop: Callable[[], bool]) -> _Results:
        run = self.run_settings
        runner = build_runner(
            self.context,
            concurrency=run.concurrency,
            prices=run.prices,
            replay=run.replay,
            endpoint=run.endpoint,
        )
        async with runner:
            protocol = await self._prepare(runner.ask)
            with Bar(progress) as bar:
                summary = await judge_all(
                    protocol,
                    runner,
                    self.instances,
                    REMEDY,
                    on_result=self._store,
                    should_stop=should_stop,
                    on_progress=bar.show,
                )
        return _Results(self.rows, protocol.compares, summary)

    async def _prepare(self, ask: Ask) -> Protocol:
        """Return the protocol with its steps, assistants and plan. The model writes the ones that are missing."""
        run, members = self.run_settings, list(self.criteria.values())
        steps = {}
        if run.steps:
            folder = run.judge_options().templates
            steps = {
                criterion.text: await draft_steps(
                    ask, self.task, criterion, run.model, max_tokens=run.max_tokens, templates=folder
                )
                for criterion in members
            }
        options = run.judge_options(steps)
        protocol = get_protocol(run.protocol)
        if not protocol.uses_assistants or run.ablation:
            return build_protocol(Brief(self.task, self.criteria, options, rivals=self._list_rivals))
        instances = list(self.instances.values())
        chosen = protocol.choose_assistants(instances, self.task, run.assistants)
        planner = replace(options, model=run.plan_model or options.model)
        plan = run.plan or await protocol.draft_plan(ask, self.task, members, chosen, planner)
        scores = {
            name: {
                instance.external_id: score
                for instance, score in zip(instances, values, strict=True)
                if not math.isnan(score)
            }
            for name, values in protocol.score_assistants(chosen, instances).items()
        }
        return build_protocol(Brief(self.task, self.criteria, options, plan, chosen, scores))

    def _list_rivals(self, instance: Instance) -> list[Instance]:
        """Return the other outputs for the instance's document."""
        same = (
            rival
            for rival in self.instances.values()
            if rival.document and rival.document == instance.document
        )
        return [rival for rival in same if rival.id != instance.id]

    def _store(self, outcomes: Sequence[Outcome[Item, Judged]]) -> None:
        for outcome in outcomes:
            instance = self.instances[outcome.item.instance]
            judged = outcome.result
            for compared in judged.judgment.comparisons if judged else ():
                key = (outcome.item.instance, compared.criterion, compared.second)
                self.rows[key] = _row(
                    instance, self.criteria[compared.criterion].text, _as_draft(compared)
                ) | {"other": self.instances[compared.second].external_id}
            if judged and judged.judgment.comparisons:
                continue
            for number in outcome.item.criteria:
                failed = ImportedDraft(instance.external_id, "", None, reason=outcome.error)
                draft = judged.judgment.drafts[number] if judged else failed
                self.rows[outcome.item.instance, number, 0] = _row(
                    instance, self.criteria[number].text, draft
                )
            if judged and judged.judgment.overall:
                key = (outcome.item.instance, len(self.criteria) + 1, 0)
                self.rows[key] = _row(instance, OVERALL, judged.judgment.overall)


def _row(instance: Instance, criterion: str, draft: ImportedDraft) -> dict[str, object]:
    conclusions = [row.text for row in draft.rows if row.kind is RowKind.CONCLUSION]
    lost = (quote.text for row in draft.rows for quote in row.quotes if not quote.found)
    return {
        "instance": instance.external_id,
        "document": document_of(instance),
        "system": instance.system,
        "criterion": criterion,
        "score": math.nan if draft.score is None else draft.score,
        "conclusion": " ".join(conclusions),
        "evidence": tuple(row.text for row in draft.rows if row.kind is RowKind.EVIDENCE),
        "not_found": tuple(lost),
        "samples": draft.samples,
        "probabilities": draft.probabilities,
        "rung": draft.rung,
        "reason": draft.reason,
        "raw": draft.raw,
    }


def _as_draft(compared: Comparison) -> ImportedDraft:
    return ImportedDraft(
        "",
        "",
        compared.preference,
        reason=compared.reason,
        raw=compared.raw,
        samples=compared.samples,
        rung=compared.rung,
    )
