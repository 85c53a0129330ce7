"""Read the lines, scores and times of the public CoEval release (Li et al., 2023).

A row of ``eval_result`` is [text, pass, delete, reason, new text] and means exactly one action.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from coeval.clock import write_time
from coeval.domain import Action, Scale
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
