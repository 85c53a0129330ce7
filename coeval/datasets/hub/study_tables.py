"""The tables of a study at the Hub, one a config: their columns, and writing them as Parquet files.

The columns are stated once, here: the files, the card, the Croissant description and the way back are made from them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coeval.datasets.tables.parquet_file import INSTALL
from coeval.errors import InputError

if TYPE_CHECKING:
    import pyarrow

STUDY = "study.json"
"""The file of what is no table: the task, and the version of this layout."""

VERSION = 1
CARD, CROISSANT = "README.md", "croissant.json"
TAG = "coeval"
"""What the card's head is tagged with: by it a data set is known as one of ours."""

ROWS_AT_ONCE = 1_000
LINE, EDIT = ("kind", "text"), ("kind", "action", "line", "reason", "text")
"""What a drafted line holds, and what is kept of a person's work on a line."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its name, what it means, and the kind of its values.

    ``kind`` is ``text``, ``number``, ``whole``, ``numbers``, ``drafted`` (drafted lines) or ``edited`` (a person's).
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
        ("reference", "A text to compare the output with; empty where there is none"),
        ("context", "Further columns of the imported file, as a JSON object"),
    ),
    "criteria": _columns(
        ("criterion", "The statement that outputs were judged by"),
        ("name", "Short name, if any"),
        ("origin", "llm (a model's wording) or human"),
        ("scale_min", "Lowest score", "whole"),
        ("scale_max", "Highest score", "whole"),
        ("question", "What a free-text judge is asked; empty for the usual question"),
        ("definition", "How to score by the criterion"),
        ("anchors", "A JSON list of [score, meaning]"),
        ("examples", "Examples for those who score"),
    ),
    "drafts": _columns(
        ("run", "Which pass of which judge"),
        ("protocol", "How the judgment was made"),
        ("model", "The model that was asked"),
        ("prompt_hash", "Hash of the prompt's template"),
        ("settings", "Further settings of the run, as a JSON object"),
        ("shown", "1 where annotators saw this run's drafts", "whole"),
        ("instance", "What was judged"),
        ("criterion", "By what"),
        ("score", "The score; null where none could be read", "number"),
        ("reason", "Why there is none, or how it came about"),
        ("answer", "The model's own words, where they were kept"),
        ("samples", "The scores of the single answers", "numbers"),
        ("lines", "The drafted lines in order: kind (conclusion, score, evidence) and text", "drafted"),
    ),
    "submissions": _columns(
        ("person", "Pseudonym of who judged"),
        ("group", "Whom the person counts with: team, expert or crowd"),
        ("instance", "What was judged"),
        ("criterion", "By what"),
        ("arm", "assisted (the draft was shown), blind (it was not), first (after a first score) or undrafted"),
        ("run", "The run whose draft was shown, or withheld; empty where there was none"),
        ("score", "The person's score; null if missing", "number"),
        ("shown_score", "The score that stood on the screen; null where none did", "number"),
        ("first_score", "In the arm first, the score given before the draft was shown", "number"),
        ("planted_error", "What was wrong on purpose in the draft shown: score, evidence, or empty"),
        ("opened_at", "When it was opened (UTC); empty where that was not timed"),
        ("submitted_at", "When it was saved (UTC)"),
        ("active_ms", "Milliseconds of activity; null where they were not measured", "whole"),
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
        ("person", "Pseudonym of who voted"),
        ("role", "owner, researcher or annotator"),
        ("revision", "Number of the save", "whole"),
        ("latest", "1 where it is the ballot that counts", "whole"),
        ("cancelled", "1 where the vote was cancelled", "whole"),
        ("saved_at", "When the ballot was saved (UTC)"),
        ("proposal", "The criterion voted on; empty for one that the voter added"),
        ("origin", "Who proposed it"),
        ("support", "How many of the model's samples named it", "whole"),
        ("samples", "How many samples there were", "whole"),
        ("action", "approve, revise, delete or add"),
        ("reason", "Why, in the voter's words"),
        ("new_text", "The new wording"),
    ),
    "scores": _columns(
        ("instance", "What was judged"),
        ("document", "Groups the instances that share an input"),
        ("system", "Who wrote the output"),
        ("criterion", "By what"),
        ("person", "Pseudonym of who judged"),
        ("role", "owner, researcher or annotator"),
        ("group", "Whom the person counts with"),
        ("check", "1 where the instance was given as an attention check", "whole"),
        ("rejected", "1 where the person's part was rejected, blocked or removed", "whole"),
        ("timed_out", "1 where the time ran out before it was finished", "whole"),
        ("arm", "assisted, blind, first or undrafted"),
        ("revision", "Number of the save", "whole"),
        ("latest", "1 where it is the save that counts", "whole"),
        ("score", "The score; null if missing", "number"),
        ("draft_score", "The score of the draft shown or withheld", "number"),
        ("shown_score", "The score that stood on the screen", "number"),
        ("planted_error", "What was wrong on purpose in the draft shown"),
        ("first_score", "The score given before the draft was shown", "number"),
        ("first_submitted_at", "When that was (UTC)"),
        ("run", "The run of the draft"),
        ("bulk", "1 where lines were approved all at once", "whole"),
        ("opened_at", "When it was opened (UTC)"),
        ("submitted_at", "When it was saved (UTC)"),
        ("active_ms", "Milliseconds of activity", "whole"),
    ),
}  # fmt: skip
"""The configs, in the order of the card: every table holds all its columns, also where it has no row."""

NEEDED = (STUDY, *(f"{name}.parquet" for name in CONFIGS if name not in ("votes", "scores")))
"""The files that a study is read back from."""


def file_of(config: str) -> str:
    """
    >>> file_of("votes")
    'votes.parquet'
    """
    return f"{config}.parquet"


def write_table(path: Path, config: str, rows: Iterable[Sequence[Any]]) -> int:
    """Write the rows of a config, each in the order of its columns; gives how many there were.

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
