"""The files of the public CoEval release (people's work and the model's texts), with checks of their structure."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from coeval.clock import write_time
from coeval.datasets.text import check_text, load_json, shorten
from coeval.domain import Action, Scale
from coeval.domain.people import MAX_PERSON_NAME
from coeval.errors import InputError
from coeval.llm.reading.evaluations import read_evaluation

SCALE = Scale()
"""The release's prompt asks for scores from 1 to 5."""

_HEADER = re.compile(
    r"(?:\d+\s*[.)]\s*)?(?:(?:evidence|evaluation|score|conclusion)|evaluation of [^:：.]*)\s*[:：.\-]*"
    r"|\d+\s*[.)]\s*(?:evidence|evaluation|score|conclusion)\b[^\n]*[:：]",
    re.IGNORECASE,
)
"""A bare label, or a numbered label with any words and a colon at the end."""
_MARK = re.compile(r"^\d+\s*(?:[,，.、;:]\s*|$)")
_POINT_TWO = re.compile(r"^2\.(?!\d)\s*")
_OUT_OF_FIVE = re.compile(r"out of 5|/\s*5", re.IGNORECASE)
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_SCORE_OF = re.compile(r"score of (\d+(?:\.\d+)?)", re.IGNORECASE)
_SAID_OF_FIVE = re.compile(r"(?<![\d.])(\d+(?:\.\d+)?)\s*(?:out of 5|/\s*5)(?![\d.]*\d)", re.IGNORECASE)
_LIST_NUMBER = re.compile(r"^[ \t]*\d+\s*[.)](?!\d)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Line:
    """One parsed row: the drafted text (empty if the person added the row) and the action.

    ``action`` is None if the row has a drafted text but no mark.
    """

    original: str
    action: Action | None
    reason: str = ""
    text: str = ""


def parse_line(cells: Sequence[str]) -> Line | None:
    """Return the line in five cells; None for an empty row.

    >>> parse_line(["2. Score: 5", "", "", "too high", "2. Score: 4"]).action
    <Action.REVISE: 'revise'>
    """
    original, passed, deleted, reason, new = (cell.strip() for cell in cells)
    if passed and original:
        return Line(original, Action.APPROVE, _remark(passed))
    if deleted and original:
        return Line(original, Action.DELETE, _remark(deleted))
    if reason or new:
        return Line(original, Action.REVISE if original else Action.ADD, reason, new)
    return Line(original, None) if original else None


def is_header(text: str) -> bool:
    """Return whether a drafted text is a heading, not a line of the evaluation.

    >>> [is_header(text) for text in ("3. Evidence:", "2. Score for it:", "2. Score: 5", "3. Evidence: \\"a\\"")]
    [True, True, False, False]
    """
    return _HEADER.fullmatch(text.strip()) is not None


def read_model_score(text: str) -> float | None:
    """Return the score in a model's evaluation, or None.

    By the release's rule, it is the first number in the first line with a number that begins with "2." or "Score"
    (without "2.", "out of 5" and "/5"), or else the N in "score of N". If this finds nothing, it is the only N in
    "N out of 5", or else the score in a form that the reader of answers knows, without list numbers.

    >>> read_model_score("1. Clear.\\n\\n2. Score: 4 out of 5.\\n\\n3. Evidence:")
    4.0
    >>> read_model_score("1. Short.\\n2. Score for the answer:\\nIt would be 3 out of 5.\\n3. Evidence:")
    3.0
    """
    for line in map(str.strip, text.splitlines()):
        if line.startswith("2.") or line.casefold().startswith("score"):
            score = read_row_score(line)
            if score is not None:
                return score
    named = _SCORE_OF.search(text)
    return float(named[1]) if named else _read_said(text)


def _read_said(text: str) -> float | None:
    """Return the score stated in a text; None if it states several different scores."""
    said = set(map(float, _SAID_OF_FIVE.findall(text)))
    if said:
        return said.pop() if len(said) == 1 else None
    return read_evaluation(_LIST_NUMBER.sub("", text), (SCALE.low, SCALE.high)).score


def read_row_score(line: str) -> float | None:
    """Return the number in a score line, or None.

    >>> read_row_score("2. score：5")
    5.0
    """
    match = _NUMBER.search(_OUT_OF_FIVE.sub("", _POINT_TWO.sub("", line.strip())))
    return float(match[0]) if match else None


def read_time(value: object) -> str:
    """Return a time from the release as UTC with milliseconds; empty if it is missing, 0 or unreadable.

    >>> read_time("2023-05-29 06:22:10")
    '2023-05-29T06:22:10.000Z'
    """
    if not isinstance(value, str):
        return ""
    try:
        moment = datetime.fromisoformat(value.strip())
        moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return ""
    return write_time(moment)


def _remark(cell: str) -> str:
    """Return the remark after a cell's mark: "1,logic" -> "logic", "1" -> ""."""
    return _MARK.sub("", cell)


@dataclass(frozen=True, slots=True)
class Record:
    """One person's work on one instance and criterion. ``headers`` counts the dropped heading rows.

    ``score`` is None if the typed score cannot be read.
    """

    criterion: str
    score: float | None
    start: object
    end: object
    lines: tuple[Line, ...]
    headers: int = 0


@dataclass(frozen=True, slots=True)
class Entry:
    """One instance in one person's file."""

    person: str
    instance: str
    fields: tuple[str, str]
    """The task's names of the input and output fields."""
    input: str
    output: str
    system: str
    records: tuple[Record, ...]


@dataclass(frozen=True, slots=True)
class Section:
    """One task of combine_data.json. Its lists are in the order of the instance ids."""

    name: str
    description: str
    fields: tuple[str, str]
    sources: Sequence[object]
    targets: Sequence[object]
    criteria: tuple[str, ...]
    texts: Mapping[str, Sequence[object]]

    def find(self, instance: str, output: str) -> int | None:
        """Return the instance's position in the lists. It is found by number if the output matches, or else
        by the output.
        """
        text_sought = output.strip()
        position = (
            int(instance) - 1 if instance.isascii() and instance.isdigit() and len(instance) < 10 else -1
        )
        if 0 <= position < len(self.targets) and str(self.targets[position]).strip() == text_sought:
            return position
        places = [place for place, text in enumerate(self.targets) if str(text).strip() == text_sought]
        return places[0] if len(places) == 1 else None

    def text(self, criterion: str, position: int) -> str:
        """Return the model's evaluation, empty if the file has none."""
        texts = self.texts.get(criterion.strip(), ())
        value = texts[position] if position < len(texts) else ""
        return value if isinstance(value, str) else ""


def load_entries(path: Path) -> Iterator[Entry]:
    """Yield every instance of every person in one A*.json; raise InputError with the place of an error."""
    people = as_object(load_json(path), path.name)
    if not people:
        raise InputError(f"{path.name}: is an empty object; restore the file from the release.")
    for person, instances in people.items():
        _check_person(person.strip(), path.name)
        for name, entry in as_object(instances, f"{path.name}, person {shorten(person)}").items():
            check_text(name, f"{path.name}, instance {shorten(name)}")
            yield _parse_entry(person.strip(), name.strip(), entry, f"{path.name}, instance {shorten(name)}")


def _check_person(name: str, file: str) -> None:
    place = f"{file}, person {shorten(name)}"
    check_text(name, place)
    if not 0 < len(name) <= MAX_PERSON_NAME:
        raise InputError(
            f"{place}: has a name of {len(name):,} characters; a person's name has 1 to {MAX_PERSON_NAME}."
        )


def load_sections(path: Path) -> list[Section]:
    """Return the tasks of combine_data.json; raise InputError with the place of an error."""
    sections = as_object(load_json(path), path.name)
    return [
        _parse_section(name, value, f"{path.name}, task {shorten(name)}") for name, value in sections.items()
    ]


def as_object(value: object, place: str) -> Mapping[str, object]:
    """Return the value as a JSON object, or raise InputError."""
    if not isinstance(value, dict):
        raise InputError(
            f"{place}: is not a JSON object as in the CoEval release. Import the release's files as they "
            "are, or your own data as JSON Lines (.jsonl) or CSV."
        )
    return value


def _parse_entry(person: str, instance: str, value: object, place: str) -> Entry:
    entry = as_object(value, place)
    fields = [key for key in entry if key not in ("criteria", "model")][:2]
    if len(fields) < 2 or not isinstance(entry.get("criteria"), dict):
        raise InputError(f"{place}: needs an input, an output and 'criteria', as in the CoEval release.")
    source, target = (_required_text(entry[key], f"{place}, '{shorten(key)}'") for key in fields)
    records = [
        _parse_record(criterion, record, f"{place}, criterion '{shorten(criterion)}'")
        for criterion, record in as_object(entry["criteria"], place).items()
    ]
    system = _as_text(entry.get("model", ""), f"{place}, 'model'").strip()
    return Entry(person, instance, (fields[0], fields[1]), source, target, system, tuple(records))


def _parse_record(criterion: str, value: object, place: str) -> Record:
    record = as_object(value, place)
    lines = [parse_line(cells) for cells in _read_rows(record.get("eval_result", []), place)]
    kept = tuple(line for line in lines if line and not is_header(line.original))
    headers = sum(1 for line in lines if line and is_header(line.original))
    score = _as_score(record.get("final_score"))
    name = check_text(criterion, place).strip()
    return Record(name, score, record.get("start_time"), record.get("end_time"), kept, headers)


def _read_rows(value: object, place: str) -> Iterator[list[str]]:
    if not isinstance(value, list):
        raise InputError(f"{place}: 'eval_result' is not a list of rows; restore it from the release.")
    for number, row in enumerate(value, start=1):
        if not isinstance(row, list) or len(row) != 5:
            raise InputError(
                f"{place}, row {number}: is not a row of five texts (text, pass, delete, reason, new text); "
                "restore it from the release."
            )
        yield [_as_text(cell, f"{place}, row {number}") for cell in row]


def _parse_section(name: str, value: object, place: str) -> Section:
    section = as_object(value, place)
    names = [str(next(iter(_as_list(section, key, place)), "")) for key in ("source_name", "target_name")]
    texts = as_object(section.get("criteria_kv", {}), f"{place}, 'criteria_kv'")
    return Section(
        name=name,
        description=str(next(iter(_as_list(section, "task_info", place)), "")),
        fields=(names[0], names[1]),
        sources=_as_list(section, "source", place),
        targets=_as_list(section, "target", place),
        criteria=tuple(str(text) for text in _as_list(section, "criteria", place)),
        texts={criterion.strip(): _as_list(texts, criterion, place) for criterion in texts},
    )


def _as_list(section: Mapping[str, object], key: str, place: str) -> list[object]:
    value = section.get(key, [])
    if not isinstance(value, list):
        raise InputError(f"{place}: '{key}' is not a list; restore it from the release.")
    return value


def _as_text(value: object, place: str) -> str:
    if value is None:
        return ""
    if not isinstance(value, str | int | float):
        raise InputError(f"{place}: is not a text; restore it from the release.")
    return check_text(str(value), place)


def _required_text(value: object, place: str) -> str:
    text = _as_text(value, place)
    if not text.strip():
        raise InputError(f"{place}: is empty; restore the text from the release.")
    return text


def _as_score(value: object) -> float | None:
    try:
        score = math.nan if isinstance(value, bool) else float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return None
    return score if math.isfinite(score) else None
