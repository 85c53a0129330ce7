"""Label Studio's JSON export: ratings, numbers, choices, texts and marked passages, by whom and how long.

Shape: https://labelstud.io/guide/export (JSON), with ``completed_by`` as a number or as a person. A study that CoEval
wrote comes back whole; what was changed in Label Studio since counts as it stands there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from coeval.datasets.annotation.answers import name_person, read_answer, slice_utf16
from coeval.datasets.annotation.label_studio_ours import OurStudy
from coeval.datasets.annotation.label_studio_out import OURS, TOOL
from coeval.datasets.format import Columns, Format
from coeval.datasets.gathering import Gathering
from coeval.datasets.json_nodes import Node, load_node, peek
from coeval.datasets.judgments import Judgment
from coeval.datasets.source import Source, source_of
from coeval.domain import Instance
from coeval.errors import InputError

_SPANS = ("labels", "hypertextlabels", "paragraphlabels", "timeserieslabels")
_SCORES = {"rating": "rating", "number": "number"}
_CHOICES = {"choices": "choices", "taxonomy": "taxonomy", "pairwise": "selected"}


@dataclass(slots=True)
class _Results:
    """What one annotation or prediction holds, by the controls of the project."""

    scores: dict[str, float] = field(default_factory=dict)
    choices: dict[str, tuple[str, ...]] = field(default_factory=dict)
    texts: list[tuple[str, str]] = field(default_factory=list)
    marks: dict[str, list[tuple[str, str]]] = field(default_factory=dict)


def _is_export(path: Path) -> bool:
    head = peek(path)
    tasks = head.value if isinstance(head.value, list) else []
    return any(
        isinstance(task, dict)
        and isinstance(task.get("data"), dict)
        and {"annotations", "predictions"} & set(task)
        for task in tasks
    )


def _open(path: Path, slug: str, columns: Columns) -> Source:
    tasks = load_node(path).items()
    ours = [task for task in tasks if isinstance(task.path("data", OURS).value, dict)]
    if ours and len(ours) < len(tasks):
        raise InputError(
            f"{path.name}: holds tasks that CoEval wrote beside others; export them into files of their own."
        )
    if ours:
        study = OurStudy(slug)
        for task in ours:
            study.add(task)
        return source_of(study.build())
    gathering = Gathering(slug, TOOL)
    rated = {name for task in tasks for name in _list_rated(task)}
    for number, task in enumerate(tasks, 1):
        _read_task(task, number, rated, gathering)
    return source_of(gathering.build())


def _list_rated(task: Node) -> Iterator[str]:
    for annotation in task.get("annotations").items():
        for result in annotation.get("result").items():
            if result.get("type").value in (*_SCORES, *_CHOICES):
                yield result.get("from_name").name()


def _read_task(task: Node, number: int, rated: set[str], gathering: Gathering) -> None:
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
            _add(_read_results(prediction, instance, gathering), shared, rated, prediction.place, gathering)
    for annotation in task.get("annotations").items():
        if annotation.get("was_cancelled").value:
            gathering.left["Skipped annotations, left out"] += 1
            continue
        shown = annotation.get("parent_prediction").name()
        seconds = annotation.get("lead_time").number()
        shared = Judgment(
            instance=name,
            criterion="-",
            by=name_person(TOOL, annotation.get("completed_by")),
            person=True,
            shown=judges.get(shown, "") if shown else "",
            saved_at=annotation.get("updated_at", "created_at").time(),
            active_ms=None if seconds is None or not 0 <= seconds < 1e9 else round(seconds * 1000),
        )
        _add(_read_results(annotation, instance, gathering), shared, rated, annotation.place, gathering)


def _read_results(annotation: Node, instance: Instance, gathering: Gathering) -> _Results:
    read = _Results()
    for result in annotation.get("result").items():
        kind, control, value = result.get("type").name(), result.get("from_name").name(), result.get("value")
        passage = value.get("start").value is not None
        if kind in _SCORES and not passage:
            score = value.get(_SCORES[kind]).number()
            if score is not None:
                read.scores[control] = score
        elif kind in _CHOICES and not passage:
            read.choices[control] = tuple(_list_texts(value.get(_CHOICES[kind])))
        elif kind == "textarea":
            read.texts += [(control, text) for text in _list_texts(value.get("text"))]
        elif kind in _SPANS and passage:
            words = _read_passage(value, instance)
            labels = _list_texts(value.get(kind))
            read.marks.setdefault(control, []).extend((label, words) for label in labels or [""])
        else:
            gathering.left["Results that are no score, choice, text or passage, left out"] += 1
    return read


def _read_passage(value: Node, instance: Instance) -> str:
    """The words of a passage: as the file gives them, else between its offsets, which a browser counted."""
    words = value.get("text").text()
    start, end = value.get("start").number(), value.get("end").number()
    if words or start is None or end is None:
        return words
    return slice_utf16(instance.output, int(start), int(end))


def _list_texts(node: Node) -> list[str]:
    """The texts of a list; the parts of one choice in a tree stand in a list of their own."""
    entries = node.items() if isinstance(node.value, list) else [node]
    return [
        " / ".join(part.text() for part in entry.items()) if isinstance(entry.value, list) else entry.text()
        for entry in entries
        if entry.value is not None
    ]


def _add(read: _Results, shared: Judgment, rated: set[str], place: str, gathering: Gathering) -> None:
    """The judgments of one annotation. A text is a comment on the first of them; passages go where they belong."""
    judgments: dict[str, Judgment] = {}
    for control, score in read.scores.items():
        judgments[control] = replace(shared, criterion=control, score=score)
    for control, chosen in read.choices.items():
        judgments[control] = replace(shared, criterion=control, labels=chosen)
    for control, marks in read.marks.items():
        _add_marks(control, marks, judgments, shared, rated)
    for control, text in read.texts:
        target = control if control in judgments else next(iter(judgments), control)
        known: Any = judgments.get(target) or replace(shared, criterion=target, reason="a text is no score")
        told = text if target == control or len(read.texts) == 1 else f"{control}: {text}"
        judgments[target] = replace(known, comment="\n".join(filter(None, (known.comment, told))))
    for judgment in judgments.values():
        gathering.add(judgment, place)


def _add_marks(
    control: str,
    marks: list[tuple[str, str]],
    judgments: dict[str, Judgment],
    shared: Judgment,
    rated: set[str],
) -> None:
    """Passages are evidence for the criterion of their label, else for the only one; else their labels are scored."""
    names = {name.casefold(): name for name in judgments}
    own: list[tuple[str, str]] = []
    for label, words in marks:
        target = names.get(label.casefold()) or (
            next(iter(judgments)) if len(judgments) == len(rated) == 1 else ""
        )
        if target:
            known = judgments[target]
            kept = "" if label.casefold() in names else label
            judgments[target] = replace(known, marks=(*known.marks, (kept, words)))
        else:
            own.append((label or control, words))
    if own:
        labels = tuple(dict.fromkeys(label for label, _ in own))
        judgments[control] = replace(shared, criterion=control, labels=labels, marks=tuple(own))


FORMAT = Format(
    "label-studio", "Label Studio export (JSON)", fits=lambda path, columns: _is_export(path), open=_open
)
