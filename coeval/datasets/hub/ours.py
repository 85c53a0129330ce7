"""A study that CoEval sent to the Hub, on its way back: the folder of its files as the study that left."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from coeval.datasets.annotation.study_records import (
    parse_criterion,
    parse_draft,
    parse_instance,
    parse_run,
    parse_submission,
)
from coeval.datasets.format import Format
from coeval.datasets.hub.study_tables import NEEDED, STUDY, VERSION, file_of
from coeval.datasets.json_nodes import Node, load_node
from coeval.datasets.source import Source, source_of
from coeval.datasets.tables import parquet_file
from coeval.datasets.text import shorten
from coeval.domain import (
    ColumnRole,
    Criterion,
    ImportedDraft,
    ImportedRun,
    ImportedSubmission,
    Instance,
    Run,
    Scale,
    Study,
    Task,
)
from coeval.errors import InputError
from coeval.language import choose_language

Cells = Mapping[str, str]
AGAIN = "is not as CoEval wrote it; fetch or publish the study again."


def holds_study(path: Path) -> bool:
    """Whether a folder holds the files of a study that was sent to the Hub."""
    return path.is_dir() and all((path / name).is_file() for name in NEEDED)


@dataclass(slots=True)
class _Returning:
    """What was read of the study so far."""

    instances: dict[str, Instance] = field(default_factory=dict)
    criteria: dict[str, Criterion] = field(default_factory=dict)
    runs: dict[str, Run] = field(default_factory=dict)
    drafts: dict[str, dict[tuple[str, str], ImportedDraft]] = field(default_factory=dict)
    submissions: list[ImportedSubmission] = field(default_factory=list)

    def add_instance(self, cells: Cells, place: str) -> None:
        names = ("document", "system", "reference")
        record = {name: cells[name] for name in names}
        record |= {"external_id": cells["instance"], "context": json.loads(cells["context"])}
        instance = parse_instance(Node(record, place), Node(dict(cells), place))
        _put(self.instances, instance.external_id, instance, place)

    def add_criterion(self, cells: Cells, place: str) -> None:
        guide = {name: cells[name] for name in ("definition", "examples")}
        record = {name: cells[name] for name in ("name", "origin", "question")}
        scale = {"low": json.loads(cells["scale_min"]), "high": json.loads(cells["scale_max"])}
        more = {"text": cells["criterion"], "scale": scale}
        guide |= {"anchors": json.loads(cells["anchors"])}
        criterion = parse_criterion(Node({**record, **more, "guide": guide}, place))
        _put(self.criteria, criterion.text, criterion, place)

    def add_draft(self, cells: Cells, place: str) -> None:
        record = {name: cells[name] for name in ("protocol", "model", "prompt_hash")}
        more = {
            "label": cells["run"],
            "params": json.loads(cells["settings"]),
            "shown": cells["shown"] == "1",
        }
        run = parse_run(Node({**record, **more}, place))
        if self.runs.setdefault(run.label, run) != run:
            raise InputError(f"{place}: tells another story of the run “{shorten(run.label)}”; {AGAIN}")
        told: dict[str, Any] = {name: cells[name] for name in ("instance", "criterion", "reason")}
        told |= {
            "raw": cells["answer"],
            "score": _number(cells["score"]),
            "samples": json.loads(cells["samples"] or "[]"),
            "rows": json.loads(cells["lines"] or "[]"),
        }
        draft = parse_draft(Node(told, place), self.instances[cells["instance"]])
        self.criteria[draft.criterion]
        _put(self.drafts.setdefault(run.label, {}), (draft.instance, draft.criterion), draft, place)

    def add_submission(self, cells: Cells, place: str) -> None:
        names = ("person", "group", "instance", "criterion", "arm", "run", "opened_at", "submitted_at")
        record: dict[str, Any] = {name: cells[name] for name in names}
        record |= {
            name: _number(cells[name]) for name in ("score", "shown_score", "first_score", "active_ms")
        }
        lines = [{**line, "draft_row": line["line"]} for line in json.loads(cells["lines"] or "[]")]
        record |= {"planted": cells["planted_error"], "rows": lines}
        given = parse_submission(Node(record, place))
        self.instances[given.instance], self.criteria[given.criterion]
        drafted = self._count_lines(given)
        if any(row.draft_row is not None and not 0 <= row.draft_row < drafted for row in given.rows):
            raise InputError(f"{place}: holds work on lines that were not drafted; {AGAIN}")
        self.submissions.append(given)

    def _count_lines(self, given: ImportedSubmission) -> int:
        if not given.run:
            return 0
        return len(self.drafts[given.run][given.instance, given.criterion].rows)

    def build(self, task: Task) -> Study:
        if sum(run.shown for run in self.runs.values()) > 1:
            raise InputError(f"drafts.parquet: names several runs that annotators were shown; {AGAIN}")
        return Study(
            task=task,
            instances=tuple(self.instances.values()),
            criteria=tuple(self.criteria.values()),
            runs=tuple(
                ImportedRun(run, tuple(self.drafts[label].values())) for label, run in self.runs.items()
            ),
            submissions=tuple(self.submissions),
        )


def render_task(task: Task) -> dict[str, Any]:
    """What of a task goes to the Hub beside the tables; its short name and its secrets stay."""
    return {
        "version": VERSION,
        "name": task.name,
        "description": task.description,
        "guidelines": task.guidelines,
        "input_field": task.input_field,
        "output_field": task.output_field,
        "scale": [task.scale.low, task.scale.high],
        "columns": {name: str(role) for name, role in task.columns.items()},
        "language": task.language,
    }


def _open(path: Path, slug: str, columns: object) -> Source:
    if not holds_study(path):
        raise InputError(f"{path.name}: lacks one of {', '.join(NEEDED)}; fetch the whole data set.")
    task = _read_task(load_node(path / STUDY), slug)
    study = _Returning()
    for config, add in (
        ("instances", study.add_instance),
        ("criteria", study.add_criterion),
        ("drafts", study.add_draft),
        ("submissions", study.add_submission),
    ):
        table = parquet_file.open_table(path / file_of(config))
        for row in table.records():  # a study without drafts has no row of them
            place = f"{table.name}, row {row.line}"
            with _as_written(place):
                add(row.cells, place)
    return source_of(study.build(task))


def _read_task(node: Node, slug: str) -> Task:
    if node.get("version").value != VERSION:
        raise InputError(f"{STUDY}: is of another version of CoEval; import it with that version.")
    words: dict[str, Any] = {
        name: node.get(name).text()
        for name in ("name", "description", "guidelines", "input_field", "output_field")
    }
    with _as_written(STUDY):
        low, high = node.get("scale").value
        roles = {name: ColumnRole(role.value) for name, role in node.get("columns").entries()}
        language = choose_language(node.get("language").text())
        return Task(slug, **words, scale=Scale(int(low), int(high)), columns=roles, language=language)


@contextmanager
def _as_written(place: str) -> Iterator[None]:
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise InputError(f"{place}: {AGAIN}") from error


def _put(known: dict[Any, Any], key: Any, part: Any, place: str) -> None:
    if known.setdefault(key, part) is not part:
        raise InputError(f"{place}: stands there twice; {AGAIN}")


def _number(cell: str) -> float | int | None:
    return None if cell == "" else json.loads(cell)


FORMAT = Format(
    "coeval-hub",
    "A study of CoEval from the Hugging Face Hub (folder)",
    fits=lambda path, columns: holds_study(path),
    open=_open,
    folder="a study from the Hub",
)
