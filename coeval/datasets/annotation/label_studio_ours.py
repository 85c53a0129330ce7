"""Tasks of Label Studio that CoEval wrote: the study as it was, and what was changed there since."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from coeval.datasets.annotation.label_studio_out import (
    OURS,
    TOOL,
    VERSION,
    name_regions,
    render_results,
    standing_lines,
)
from coeval.datasets.annotation.record_answers import name_person
from coeval.datasets.annotation.study_records import (
    parse_criterion,
    parse_draft,
    parse_instance,
    parse_run,
    parse_submission,
)
from coeval.datasets.gathering import share_scale
from coeval.datasets.json_nodes import Node
from coeval.datasets.text import shorten
from coeval.domain import (
    Action,
    Arm,
    Criterion,
    ImportedDraft,
    ImportedRun,
    ImportedSubmission,
    Instance,
    RowKind,
    Run,
    ScrutinyRow,
    Study,
    Task,
)
from coeval.errors import InputError


@dataclass(slots=True)
class OurStudy:
    """The study on its way back, task by task."""

    slug: str
    instances: dict[str, Instance] = field(default_factory=dict)
    criteria: dict[str, Criterion] = field(default_factory=dict)
    runs: dict[str, Run] = field(default_factory=dict)
    drafts: dict[str, list[ImportedDraft]] = field(default_factory=dict)
    submissions: list[ImportedSubmission] = field(default_factory=list)
    changed: int = 0
    removed: int = 0

    def add(self, task: Node) -> None:
        """Take in a task; raises InputError for one that CoEval did not write so."""
        kept = task.path("data", OURS)
        if kept.get("version").value != VERSION:
            raise InputError(f"{kept.place}: is of another version of CoEval; import it with that version.")
        instance = _same(
            self.instances, parse_instance(kept.get("instance"), task.get("data")), "external_id", task.place
        )
        if kept.get("criterion").value is not None:
            _same(self.criteria, parse_criterion(kept.get("criterion")), "text", task.place)
        lines: dict[str, ImportedDraft] = {}
        runs = kept.get("runs").items()
        drafts = kept.get("drafts").items()
        if len(runs) != len(drafts):
            raise InputError(
                f"{kept.place}: has {len(runs)} runs and {len(drafts)} drafts; export the study again."
            )
        for run_node, draft_node in zip(runs, drafts, strict=True):
            run = _same(self.runs, parse_run(run_node), "label", task.place)
            lines[run.label] = parse_draft(draft_node, instance)
            self.drafts.setdefault(run.label, []).append(lines[run.label])
        records = [parse_submission(node) for node in kept.get("submissions").items()]
        if not all(_belongs(record, kept, instance, lines) for record in records):
            raise InputError(f"{kept.place}: holds work on something else; export the study again.")
        self._add_work(task, instance, records, lines)

    def _add_work(
        self,
        task: Node,
        instance: Instance,
        records: list[ImportedSubmission],
        lines: dict[str, ImportedDraft],
    ) -> None:
        """Every submission as it was sent out, or as it stands in Label Studio now."""
        by_name = {name_regions(record): record for record in records}
        standing: dict[str, Node] = {}
        for annotation in task.get("annotations").items():
            if annotation.get("was_cancelled").value:
                continue
            regions = annotation.get("result").items()
            names = [str(region.get("id").value).rpartition("-")[0] for region in regions]
            name = next((each for each in names if each in by_name), "")
            if name:
                standing[name] = annotation
            elif regions:
                self.submissions.append(_read_new(annotation, instance, task, lines))
        for name, record in by_name.items():
            drafted = lines[record.run].rows if record.run in lines else ()
            sent = render_results(name, standing_lines(record, drafted), record.score, instance)
            if name not in standing and sent:
                self.removed += 1
                continue
            self.submissions.append(record)
            if name in standing and _values(standing[name].get("result").items()) != _values_of(sent):
                self.changed += 1
                self.submissions.append(_read_new(standing[name], instance, task, lines))

    def build(self) -> Study:
        """The study; what was changed in Label Studio is told. Raises InputError where several runs are shown."""
        if sum(run.shown for run in self.runs.values()) > 1:
            raise InputError(
                "The tasks name several runs that annotators were shown; export the study again."
            )
        told = (
            ("Submissions changed in Label Studio, kept beside what stands there now", self.changed),
            ("Submissions deleted in Label Studio, left out", self.removed),
        )
        return Study(
            task=Task(
                self.slug,
                self.slug,
                scale=share_scale(criterion.scale for criterion in self.criteria.values()),
            ),
            instances=tuple(self.instances.values()),
            criteria=tuple(self.criteria.values()),
            runs=tuple(ImportedRun(run, tuple(self.drafts[label])) for label, run in self.runs.items()),
            submissions=tuple(self.submissions),
            notes=tuple(f"{what}: {count:,}." for what, count in told if count),
        )


def _same(known: dict[str, Any], part: Any, key: str, place: str) -> Any:
    """The part as it is known already; raises InputError where the tasks tell two things of it."""
    name = getattr(part, key)
    if known.setdefault(name, part) != part:
        raise InputError(
            f"{place}: tells another story of '{shorten(name)}' than a task before it; export it again."
        )
    return known[name]


def _belongs(
    record: ImportedSubmission, kept: Node, instance: Instance, lines: dict[str, ImportedDraft]
) -> bool:
    """Whether work is on this task's instance and criterion, and acts on lines that are drafted."""
    drafted = len(lines[record.run].rows) if record.run in lines else 0
    return (
        record.instance == instance.external_id
        and record.criterion == kept.path("criterion", "text").value
        and (not record.run or record.run in lines)
        and all(
            row.draft_row is None or not record.run or 0 <= row.draft_row < drafted for row in record.rows
        )
    )


def _values(regions: list[Node]) -> list[tuple[str, str, Any]]:
    return _values_of([region.value for region in regions if isinstance(region.value, dict)])


def _values_of(regions: list[dict[str, Any]]) -> list[tuple[str, str, Any]]:
    """What regions say, in an order of their own: Label Studio may give them in another, with more about them."""
    said = ("number", "rating", "text", "start", "end", "labels")
    parts = []
    for region in regions:
        value = region.get("value")
        value = value if isinstance(value, dict) else {}
        parts.append(
            (str(region.get("from_name")), str(region.get("type")), repr([value.get(key) for key in said]))
        )
    return sorted(parts)


def _read_new(
    annotation: Node, instance: Instance, task: Node, lines: dict[str, ImportedDraft]
) -> ImportedSubmission:
    """Work that was done in Label Studio alone, where the draft of the only run stood as a prediction."""
    seconds = annotation.get("lead_time").number()
    return ImportedSubmission(
        person=name_person(TOOL, annotation.get("updated_by", "completed_by")),
        instance=instance.external_id,
        criterion=task.path("data", OURS, "criterion", "text").text(),
        arm=Arm.ASSISTED if len(lines) == 1 else Arm.BLIND,
        run=next(iter(lines)) if len(lines) == 1 else "",
        submitted_at=annotation.get("updated_at", "created_at").time(),
        active_ms=None if seconds is None or not 0 <= seconds < 1e9 else round(seconds * 1000),
        **_read_regions(annotation.get("result").items()),
    )


def _read_regions(regions: list[Node]) -> dict[str, Any]:
    """Score and rows of an evaluation as Label Studio has it; all of it was put there by a person."""
    score: float | None = None
    rows: list[ScrutinyRow] = []
    for region in regions:
        control, value = region.get("from_name").value, region.get("value")
        if control == "score":
            score = value.get("number", "rating").number()
            if score is not None:
                rows.append(ScrutinyRow(RowKind.SCORE, Action.ADD, text=f"{score:g}"))
        elif control in ("conclusion", "evidence"):
            texts = value.get("text")
            entries = texts.items() if isinstance(texts.value, list) else [texts]
            rows += [ScrutinyRow(RowKind(control), Action.ADD, text=entry.text()) for entry in entries]
        elif region.get("type").value == "labels":
            words = value.get("text").text()
            if words and not any(words in row.text for row in rows):
                rows.append(ScrutinyRow(RowKind.EVIDENCE, Action.ADD, text=f"“{words}”"))
    return {"score": score, "rows": tuple(rows)}
