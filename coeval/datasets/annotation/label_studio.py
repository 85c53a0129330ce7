"""Label Studio's JSON export: ratings, numbers, choices, texts and marked passages, by whom and how long.

Shape: https://labelstud.io/guide/export (JSON), with ``completed_by`` as a number or as a person. A study that CoEval
wrote comes back whole; what was changed in Label Studio since counts as it stands there.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from coeval.datasets.annotation.label_studio_ours import OurStudy
from coeval.datasets.annotation.label_studio_out import OURS, TOOL
from coeval.datasets.annotation.record_answers import name_person, read_answer, slice_utf16
from coeval.datasets.annotation.record_results import Results
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
            _read_results(prediction, instance, gathering).add_to(gathering, shared, rated, prediction.place)
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


FORMAT = Format(
    "label-studio", "Label Studio export (JSON)", fits=lambda path, columns: _is_export(path), open=_open
)
