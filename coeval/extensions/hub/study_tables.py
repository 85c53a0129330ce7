"""The tables of a study on the Hub, one per config: their columns, their Parquet files, and the import.

The columns are defined only here: the files, the card and the import use them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coeval.datasets.file_format import Format
from coeval.datasets.json_nodes import Node, load_node
from coeval.datasets.source import Source, source_of
from coeval.datasets.study_records import (
    parse_criterion,
    parse_draft,
    parse_instance,
    parse_run,
    parse_submission,
)
from coeval.datasets.tables import parquet_file
from coeval.datasets.tables.parquet_file import INSTALL
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

if TYPE_CHECKING:
    import pyarrow


STUDY = "study.json"
"""The file for data outside the tables: the task, and the version of this layout."""

VERSION = 1
CARD = "README.md"
TAG = "coeval"
"""The tag in the card's head that marks a data set from CoEval."""

ROWS_AT_ONCE = 1_000
LINE, EDIT = ("kind", "text"), ("kind", "action", "line", "reason", "text")
"""The fields of a drafted line, and of a person's work on a line."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its name, its meaning, and the kind of its values.

    ``kind`` is ``text``, ``number``, ``whole``, ``numbers``, ``drafted`` (drafted lines) or ``edited`` (a
    person's).
    """

    name: str
    meaning: str
    kind: str = "text"


def _columns(*stated: tuple[str, ...]) -> tuple[Column, ...]:
    return tuple(Column(*each) for each in stated)


CONFIGS: Mapping[str, tuple[Column, ...]] = {
    "instances": _columns(
        ("instance", "Id of the instance, as in the imported file"),
        ("document", "Groups the instances that share an input"),
        ("system", "Who wrote the output"),
        ("input", "What the output was written for"),
        ("output", "The text that was judged"),
        ("reference", "A text to compare the output with; empty if there is none"),
        ("context", "Other columns of the imported file, as a JSON object"),
    ),
    "criteria": _columns(
        ("criterion", "The statement that outputs were judged by"),
        ("name", "Short name, if any"),
        ("origin", "llm (a model's wording) or human"),
        ("scale_min", "Lowest score", "whole"),
        ("scale_max", "Highest score", "whole"),
        ("question", "The question for a free-text judge; empty for the usual question"),
        ("definition", "How to score with the criterion"),
        ("anchors", "A JSON list of [score, meaning]"),
        ("examples", "Examples for those who score"),
    ),
    "drafts": _columns(
        ("run", "Name of the judge's run"),
        ("protocol", "Method of the judgment"),
        ("model", "Name of the model"),
        ("prompt_hash", "Hash of the prompt template"),
        ("settings", "Other settings of the run, as a JSON object"),
        ("shown", "1 if annotators saw this run's drafts", "whole"),
        ("instance", "What was judged"),
        ("criterion", "By what"),
        ("score", "The score; null if none could be read", "number"),
        ("reason", "Why there is no score, or how it was computed"),
        ("answer", "The model's own words, if they were kept"),
        ("rung", "How the score was obtained: decision, schema, json, label or asked again; empty if unknown"),
        ("samples", "The scores of the single answers", "numbers"),
        ("lines", "The drafted lines in order: kind (conclusion, score, evidence) and text", "drafted"),
    ),
    "submissions": _columns(
        ("person", "Pseudonym of the judging person"),
        ("group", "Group of the person: team, expert or crowd"),
        ("instance", "What was judged"),
        ("criterion", "By what"),
        ("arm", "assisted (the draft was shown), blind (it was not), first (after a first score), evidence "
         "(its quoted passages were marked), reasons (its lines of evidence were shown) or undrafted"),
        ("run", "The run whose draft was shown or withheld; empty if there was none"),
        ("score", "The person's score; null if missing", "number"),
        ("shown_score", "The score shown on the screen; null if none was", "number"),
        ("first_score", "In the arm first, the score given before the draft was shown", "number"),
        ("planted_error", "The planted error in the draft shown: score, or empty"),
        ("opened_at", "When it was opened (UTC); empty if unknown"),
        ("submitted_at", "When it was saved (UTC)"),
        ("active_ms", "Milliseconds of activity; null if not measured", "whole"),
        (
            "lines",
            "What the person did to each line: kind, action, place of the drafted line from 0 (null for an added "
            "one), reason, and the new text",
            "edited",
        ),
    ),
    "votes": _columns(
        ("version", "Number of the criteria set that was voted for", "whole"),
        ("round", "Round of voting", "whole"),
        ("person", "Pseudonym of the voter"),
        ("role", "owner, researcher or annotator"),
        ("revision", "Number of the save", "whole"),
        ("latest", "1 if this ballot counts", "whole"),
        ("cancelled", "1 if the vote was cancelled", "whole"),
        ("saved_at", "When the ballot was saved (UTC)"),
        ("proposal", "The criterion voted on; empty for one that the voter added"),
        ("origin", "Who proposed it"),
        ("action", "approve, revise, delete or add"),
        ("reason", "Why, in the voter's words"),
        ("new_text", "The new wording"),
    ),
    "scores": _columns(
        ("instance", "What was judged"),
        ("document", "Groups the instances that share an input"),
        ("system", "Who wrote the output"),
        ("criterion", "By what"),
        ("person", "Pseudonym of the judging person"),
        ("role", "owner, researcher or annotator"),
        ("group", "Group of the person"),
        ("check", "1 if the instance was an attention check", "whole"),
        ("rejected", "1 if the person's work was rejected, blocked or removed", "whole"),
        ("timed_out", "1 if the time ran out before it was finished", "whole"),
        ("arm", "assisted, blind, first, evidence, reasons or undrafted"),
        ("revision", "Number of the save", "whole"),
        ("latest", "1 if this save counts", "whole"),
        ("score", "The score; null if missing", "number"),
        ("draft_score", "Score of the draft that was shown or withheld", "number"),
        ("shown_score", "The score shown on the screen", "number"),
        ("planted_error", "The planted error in the draft shown"),
        ("first_score", "The score given before the draft was shown", "number"),
        ("first_submitted_at", "When the first score was given (UTC)"),
        ("run", "The run of the draft"),
        ("bulk", "1 if lines were approved in bulk", "whole"),
        ("opened_at", "When it was opened (UTC)"),
        ("submitted_at", "When it was saved (UTC)"),
        ("active_ms", "Milliseconds of activity", "whole"),
    ),
}  # fmt: skip
"""The configs in the order of the card. Every table has all of its columns, even without rows."""

NEEDED = (STUDY, *(f"{name}.parquet" for name in CONFIGS if name not in ("votes", "scores")))
"""The files from which a study is imported."""


def file_of(config: str) -> str:
    """
    >>> file_of("votes")
    'votes.parquet'
    """
    return f"{config}.parquet"


def write_table(path: Path, config: str, rows: Iterable[Sequence[Any]]) -> int:
    """Write the rows of a config in the order of its columns; return their number.

    Raises:
        InputError: pyarrow is not installed.
    """
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise InputError(INSTALL) from error
    schema = pyarrow.schema([(column.name, _kind(column.kind)) for column in CONFIGS[config]])
    count = 0
    with parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        for portion in _portions(rows):
            columns = zip(*portion, strict=True)
            arrays = [
                pyarrow.array(values, field.type) for values, field in zip(columns, schema, strict=True)
            ]
            writer.write_table(pyarrow.Table.from_arrays(arrays, schema=schema))
            count += len(portion)
    return count


def _portions(rows: Iterable[Sequence[Any]]) -> Iterator[list[Sequence[Any]]]:
    waiting = iter(rows)
    while portion := list(islice(waiting, ROWS_AT_ONCE)):
        yield portion


def _kind(kind: str) -> pyarrow.DataType:
    import pyarrow

    def lines(*names: str) -> pyarrow.DataType:
        types = {"line": pyarrow.int64()}
        return pyarrow.list_(pyarrow.struct([(name, types.get(name, pyarrow.string())) for name in names]))

    return {
        "text": pyarrow.string,
        "number": pyarrow.float64,
        "whole": pyarrow.int64,
        "numbers": lambda: pyarrow.list_(pyarrow.float64()),
        "drafted": lambda: lines(*LINE),
        "edited": lambda: lines(*EDIT),
    }[kind]()


Cells = Mapping[str, str]
AGAIN = "is not as CoEval wrote it; fetch or publish the study again."


def holds_study(path: Path) -> bool:
    """Return whether a folder has the files of a study that was sent to the Hub."""
    return path.is_dir() and all((path / name).is_file() for name in NEEDED)


@dataclass(slots=True)
class _Returning:
    """The parts of a study that have been read so far."""

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
            raise InputError(
                f"{place}: contradicts an earlier row about the run “{shorten(run.label)}”; {AGAIN}"
            )
        told: dict[str, Any] = {name: cells[name] for name in ("instance", "criterion", "reason")}
        told |= {
            "raw": cells["answer"],
            "rung": cells.get("rung", ""),
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
        submission = parse_submission(Node(record, place))
        self.instances[submission.instance], self.criteria[submission.criterion]
        drafted = self._count_lines(submission)
        if any(row.draft_row is not None and not 0 <= row.draft_row < drafted for row in submission.rows):
            raise InputError(f"{place}: contains work on lines that were not drafted; {AGAIN}")
        self.submissions.append(submission)

    def _count_lines(self, submission: ImportedSubmission) -> int:
        if not submission.run:
            return 0
        return len(self.drafts[submission.run][submission.instance, submission.criterion].rows)

    def build(self, task: Task) -> Study:
        if sum(run.shown for run in self.runs.values()) > 1:
            raise InputError(f"drafts.parquet: marks several runs as shown to annotators; {AGAIN}")
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
    """Return the task's fields for the Hub, without the short name and secrets."""
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


def _open_hub_study(path: Path, slug: str, columns: object) -> Source:
    if not holds_study(path):
        raise InputError(f"{path.name}: lacks one of {', '.join(NEEDED)}; download the whole data set.")
    task = _read_task(load_node(path / STUDY), slug)
    study = _Returning()
    for config, add in (
        ("instances", study.add_instance),
        ("criteria", study.add_criterion),
        ("drafts", study.add_draft),
        ("submissions", study.add_submission),
    ):
        table = parquet_file.open_table(path / file_of(config))
        for row in table.records():  # a study without drafts has no such rows
            place = f"{table.name}, row {row.line}"
            with _as_written(place):
                add(row.cells, place)
    return source_of(study.build(task))


def _read_task(node: Node, slug: str) -> Task:
    if node.get("version").value != VERSION:
        raise InputError(f"{STUDY}: was written by another version of CoEval; import it with that version.")
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


def _put(parts: dict[Any, Any], key: Any, part: Any, place: str) -> None:
    if parts.setdefault(key, part) is not part:
        raise InputError(f"{place}: is listed twice; {AGAIN}")


def _number(cell: str) -> float | int | None:
    return None if cell == "" else json.loads(cell)


HUB_STUDY_FORMAT = Format(
    "coeval-hub",
    "A CoEval study from the Hugging Face Hub (folder)",
    fits=lambda path, columns: holds_study(path),
    open=_open_hub_study,
    folder="a study from the Hub",
)
