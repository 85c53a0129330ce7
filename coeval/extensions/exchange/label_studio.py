"""Import Label Studio's JSON export; for tasks from CoEval, restore the study and read later changes.

Shape: https://labelstud.io/guide/export (JSON), with ``completed_by`` as a number or as a person. A study from CoEval
is restored completely, and changes in Label Studio are kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from coeval.datasets.file_format import Columns, Format
from coeval.datasets.json_nodes import Node, load_node, peek
from coeval.datasets.rating_rows import share_scale
from coeval.datasets.source import Source, source_of
from coeval.datasets.study_records import (
    parse_criterion,
    parse_draft,
    parse_instance,
    parse_run,
    parse_submission,
)
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
from coeval.extensions.exchange.label_studio_tasks import (
    OURS,
    TOOL,
    VERSION,
    name_regions,
    render_results,
    standing_lines,
)
from coeval.extensions.exchange.records import (
    Fields,
    Results,
    name_people,
    name_person,
    read_answer,
    slice_utf16,
)
from coeval.extensions.exchange.tool_files import Gathering, Judgment


@dataclass(slots=True)
class OurStudy:
    """A study that is restored from its own export, task by task."""

    slug: str
    instances: dict[str, Instance] = field(default_factory=dict)
    criteria: dict[str, Criterion] = field(default_factory=dict)
    runs: dict[str, Run] = field(default_factory=dict)
    drafts: dict[str, list[ImportedDraft]] = field(default_factory=dict)
    submissions: list[ImportedSubmission] = field(default_factory=list)
    changed: int = 0
    removed: int = 0

    def add(self, task: Node) -> None:
        """Add a task; raise InputError if CoEval did not write it in this form."""
        kept = task.path("data", OURS)
        if kept.get("version").value != VERSION:
            raise InputError(
                f"{kept.place}: was written by another version of CoEval; import it with that version."
            )
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
            raise InputError(f"{kept.place}: contains work on another draft; export the study again.")
        self._add_work(task, instance, records, lines)

    def _add_work(
        self,
        task: Node,
        instance: Instance,
        records: list[ImportedSubmission],
        lines: dict[str, ImportedDraft],
    ) -> None:
        """Add every submission, as it was exported or changed in Label Studio."""
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
        """Return the study with notes on changes in Label Studio; raise InputError if several runs are shown."""
        if sum(run.shown for run in self.runs.values()) > 1:
            raise InputError("The tasks mark several runs as shown to annotators; export the study again.")
        told = (
            ("Submissions changed in Label Studio, kept with their changed version", self.changed),
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


def _same(parts: dict[str, Any], part: Any, key: str, place: str) -> Any:
    """Return the part that is already stored under this name; raise InputError if it differs from the new one."""
    name = getattr(part, key)
    if parts.setdefault(name, part) != part:
        raise InputError(
            f"{place}: contradicts an earlier task about '{shorten(name)}'; export the study again."
        )
    return parts[name]


def _belongs(
    record: ImportedSubmission, kept: Node, instance: Instance, lines: dict[str, ImportedDraft]
) -> bool:
    """Return whether the work belongs to this task's instance and criterion, and acts only on drafted lines."""
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
    """Return the regions' values in a fixed order, because Label Studio may reorder and extend regions."""
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
    """Return work that exists only in Label Studio; its draft is the prediction, if there is only one run."""
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
    """Return the score and rows of an evaluation that a person wrote in Label Studio."""
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


_SPANS = ("labels", "hypertextlabels", "paragraphlabels", "timeserieslabels")
_SCORES = {"rating": "rating", "number": "number"}
_FIELDS = Fields(
    "id data annotations predictions completed_by updated_by was_cancelled lead_time updated_at parent_prediction "
    "result type from_name model_version drafts",
    kept="data value completed_by updated_by",
)
_CHOICES = {"choices": "choices", "taxonomy": "taxonomy", "pairwise": "selected"}


def _is_export(path: Path) -> bool:
    head = peek(path)
    tasks = head.value if isinstance(head.value, list) else []
    return any(
        isinstance(task, dict)
        and isinstance(task.get("data"), dict)
        and {"annotations", "predictions"} & set(task)
        for task in tasks
    )


def _open_label_studio(path: Path, slug: str, columns: Columns) -> Source:
    tasks = load_node(path).items()
    ours = [task for task in tasks if isinstance(task.path("data", OURS).value, dict)]
    if ours and len(ours) < len(tasks):
        raise InputError(
            f"{path.name}: mixes tasks from CoEval with other tasks; export each kind into its own file."
        )
    if ours:
        study = OurStudy(slug)
        for task in ours:
            study.add(task)
        return source_of(study.build())
    gathering = Gathering(slug, TOOL)
    _FIELDS.count_others(gathering, tasks)
    rated = {name for task in tasks for name in _list_rated(task)}
    people = [note.get("completed_by") for task in tasks for note in task.get("annotations").items()]
    names = name_people(TOOL, people)
    for number, task in enumerate(tasks, 1):
        _read_task(task, number, rated, names, gathering)
    return gathering.open()


def _list_rated(task: Node) -> Iterator[str]:
    for annotation in task.get("annotations").items():
        for result in annotation.get("result").items():
            if result.get("type").value in (*_SCORES, *_CHOICES):
                yield result.get("from_name").name()


def _read_task(
    task: Node, number: int, rated: set[str], names: Mapping[str, str], gathering: Gathering
) -> None:
    data = task.get("data")
    name = data.get("instance", "instance_id").name() or task.get("id").name() or str(number)
    instance = read_answer(Node({k: v for k, v in data.value.items() if k not in ("instance", "instance_id")}
                                if isinstance(data.value, dict) else data.value, data.place), name)  # fmt: skip
    if not gathering.add_instance(instance, task.place):
        return
    judges: dict[str, str] = {}
    for prediction in task.get("predictions").items():
        if isinstance(prediction.value, dict):
            judge = prediction.get("model_version").name() or f"{TOOL} prediction"
            judges[prediction.get("id").name()] = judge
            shared = Judgment(instance=name, criterion="-", by=judge)
            _read_results(prediction, instance, gathering).add_to(gathering, shared, rated, prediction.place)
    drafts = task.get("drafts").items() + [
        d for a in task.get("annotations").items() for d in a.get("drafts").items()
    ]
    gathering.left["Drafts that were not submitted, left out"] += len(drafts)
    for annotation in task.get("annotations").items():
        if annotation.get("was_cancelled").value:
            gathering.left["Skipped annotations, left out"] += 1
            continue
        shown = annotation.get("parent_prediction").name()
        seconds = annotation.get("lead_time").number()
        shared = Judgment(
            instance=name,
            criterion="-",
            by=names[annotation.get("completed_by").text()],
            person=True,
            shown=judges.get(shown, "") if shown else "",
            saved_at=annotation.get("updated_at", "created_at").time(),
            active_ms=None if seconds is None or not 0 <= seconds < 1e9 else round(seconds * 1000),
        )
        _read_results(annotation, instance, gathering).add_to(gathering, shared, rated, annotation.place)


def _read_results(annotation: Node, instance: Instance, gathering: Gathering) -> Results:
    read = Results()
    for result in annotation.get("result").items():
        kind, control, value = result.get("type").name(), result.get("from_name").name(), result.get("value")
        passage = value.get("start").value is not None
        if kind in _SCORES and not passage:
            score = value.get(_SCORES[kind]).number()
            if score is not None:
                read.scores[control] = score
        elif kind in _CHOICES and not passage:
            read.choices[control] = tuple(_list_texts(value.get(_CHOICES[kind])))
        elif kind in {**_SCORES, **_CHOICES}:  # of one passage
            given = value.get({**_SCORES, **_CHOICES}[kind])
            words = _read_passage(value, instance)
            read.marks.setdefault(control, []).extend((text, words) for text in _list_texts(given))
        elif kind == "ranker":
            read.add_ranking(control, value.get("ranker"))
        elif kind == "textarea":
            read.texts += [(control, text) for text in _list_texts(value.get("text"))]
        elif kind in _SPANS and passage:
            words = _read_passage(value, instance)
            labels = _list_texts(value.get(kind))
            read.marks.setdefault(control, []).extend((label, words) for label in labels or [""])
        else:
            gathering.left["Results that are not a score, choice, text or passage, left out"] += 1
    return read


def _read_passage(value: Node, instance: Instance) -> str:
    """Return the text of a passage: from the file, or else from its offsets, which count UTF-16 units."""
    words = value.get("text").text()
    start, end = value.get("start").number(), value.get("end").number()
    if words or start is None or end is None:
        return words
    return slice_utf16(instance.output, int(start), int(end))


def _list_texts(node: Node) -> list[str]:
    """Return the texts of a list; a choice from a tree is a nested list of its parts."""
    entries = node.items() if isinstance(node.value, list) else [node]
    return [
        " / ".join(part.text() for part in entry.items()) if isinstance(entry.value, list) else entry.text()
        for entry in entries
        if entry.value is not None
    ]


FORMAT = Format(
    "label-studio",
    "Label Studio export (JSON)",
    fits=lambda path, columns: _is_export(path),
    open=_open_label_studio,
)
