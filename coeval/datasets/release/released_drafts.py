"""The drafts of the public CoEval release: the model's lines as people saw them, and its score."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from coeval.datasets.release.release_lines import SCALE, Line, is_header, read_model_score
from coeval.domain import EvaluationRow, ImportedDraft, Instance, RowKind, Run
from coeval.llm.reading.quotes import find_quotes

RUN = Run(
    protocol="imported",
    model="as released",
    label="released draft",
    params={"source": "the public CoEval release", "protocol": "coeval"},
    shown=True,
)
"""The one run of a release; the files do not say which model or parameters made it."""


def kind_at(position: int) -> RowKind:
    """The kind of a line by its place, headers aside: conclusion, score, then evidence."""
    return (RowKind.CONCLUSION, RowKind.SCORE)[position] if position < 2 else RowKind.EVIDENCE


def choose_lines(seen: Sequence[Sequence[Line]], text: str, tally: Counter[str]) -> tuple[str, ...]:
    """The drafted lines of one pair: what most people saw, the first among equals.

    Where nobody scrutinised the pair, the lines of the model's text.
    """
    lists = [tuple(line.original for line in lines if line.original) for lines in seen]
    lists = [lines for lines in lists if lines]
    if not lists:
        lines = (line.strip() for line in text.splitlines())
        return tuple(line for line in lines if line and not is_header(line))
    tally["drafts_differ"] += len(set(lists)) > 1
    return Counter(lists).most_common(1)[0][0]


def build_draft(
    instance: Instance, criterion: str, lines: Sequence[str], text: str, tally: Counter[str]
) -> ImportedDraft:
    """One draft; its score is read from the model's whole text, else from its lines, else it is unscored."""
    score = read_model_score(text)
    if score is None:
        score = read_model_score("\n".join(lines))
    reason = "" if score is not None else "the model's text states no score"
    if score is not None and not SCALE.low <= score <= SCALE.high:
        score, reason = None, f"the score stated, {score:g}, is off the scale {SCALE}"
    tally["unscored"] += score is None
    rows = tuple(_build_row(position, line, instance) for position, line in enumerate(lines))
    return ImportedDraft(instance.external_id, criterion, score, rows, reason=reason, raw=text)


def _build_row(position: int, line: str, instance: Instance) -> EvaluationRow:
    kind = kind_at(position)
    quotes = find_quotes(line, instance.output, instance.input) if kind is RowKind.EVIDENCE else ()
    return EvaluationRow(kind, line, quotes)
