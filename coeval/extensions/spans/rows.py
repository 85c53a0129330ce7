"""Pure rules for a person's action on each displayed span, and for the spans that result.

The browser sends the place of a drafted span in the list that was shown, never the drafted span itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from coeval.domain import MAX_REMARK, Action
from coeval.errors import InputError
from coeval.extensions.spans.typology import Scoring, Side, Span, Typology
from coeval.language import tr, trn
from coeval.rules.evaluation_rows import Exact, Id

MAX_SPANS = 500
"""The largest number of spans in one segment."""


@dataclass(frozen=True, slots=True)
class SentSpan(Exact):
    """One line of a save; ``at`` is the place of a drafted span, from 1, or None for an added span."""

    at: Annotated[Id, Field(le=MAX_SPANS * 2)] | None
    action: Action | None
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class SpanRow:
    """A stored line: ``was`` is the displayed span, and ``span`` the result."""

    at: int | None
    action: Action
    span: Span
    was: Span | None = None

    @property
    def stays(self) -> bool:
        return self.action is not Action.DELETE


def arrange(spans: Iterable[Span]) -> list[Span]:
    """Sort spans in the order of the screen: spans of the input, then of the output, then without a place."""
    return sorted(
        spans,
        key=lambda span: (
            not span.placed,
            span.side is Side.OUTPUT,
            span.start or 0,
            span.end or 0,
            span.severity,
            span.category,
            span.note,
        ),
    )


def settle(
    shown: Sequence[Span], sent: Sequence[SentSpan], typology: Typology, source: str, output: str
) -> tuple[SpanRow, ...]:
    """Return the stored lines of a save, each compared with the draft.

    A revision without a change becomes an approval.

    Raises:
        InputError: a drafted span has no decision or two, or a span does not fit its text or the typology.
    """
    if len(sent) > MAX_SPANS + len(shown):
        raise InputError(tr("There are more than {most} spans: delete some.", most=MAX_SPANS))
    decided: dict[int, SentSpan] = {}
    added: list[SpanRow] = []
    for line in sent:
        if line.at is None:
            if line.span is None:
                raise InputError(tr("A span has no place: reload the page and try again."))
            added.append(SpanRow(None, Action.ADD, typology.check_span(_checked(line.span), source, output)))
        elif not 1 <= line.at <= len(shown) or line.at in decided:
            raise InputError(tr("A line does not belong to this draft: reload the page and try again."))
        else:
            decided[line.at] = line
    open_lines = sum(line.action is None for line in decided.values()) + len(shown) - len(decided)
    if open_lines:
        raise InputError(
            trn(
                "{n} span still needs a decision: approve it, change it or delete it.",
                "{n} spans still need a decision: approve them, change them or delete them.",
                open_lines,
            )
        )
    rows = [_decide(decided[at], was, typology, source, output) for at, was in enumerate(shown, 1)] + added
    spans = [row.span for row in rows if row.stays]
    if len(set(spans)) < len(spans):
        raise InputError(tr("Two spans are the same: delete one of them."))
    return tuple(rows)


def _decide(line: SentSpan, was: Span, typology: Typology, source: str, output: str) -> SpanRow:
    assert line.at is not None and line.action is not None
    if line.action is Action.REVISE and line.span is not None:
        span = _checked(line.span)
        if span.same_place(was) and span.same_kind(was) and span.note == was.note:
            return SpanRow(line.at, Action.APPROVE, was, was)
        return SpanRow(line.at, Action.REVISE, typology.check_span(span, source, output), was)
    if line.action not in (Action.APPROVE, Action.DELETE):
        raise InputError(tr("A line has an invalid action: reload the page and try again."))
    return SpanRow(line.at, line.action, was, was)


def match_spans(draft: Sequence[Span], saved: Iterable[Span]) -> list[SpanRow]:
    """Return the lines that turn a draft into the saved spans.

    Each drafted span is matched to at most one saved span: an equal one, else one of the same place and kind, else
    one of the same place, else the one with the largest overlap in the same text.

    >>> [str(row.action) for row in match_spans([Span(0, 4, "minor"), Span(5, 9, "minor")], [Span(0, 4, "major")])]
    ['revise', 'delete']
    """
    left = list(saved)
    rows: dict[int, SpanRow] = {}
    fits: tuple[Callable[[Span, Span], bool], ...] = (
        lambda span, was: span == was,
        lambda span, was: span.same_place(was) and span.same_kind(was),
        lambda span, was: span.same_place(was),
    )
    for fit in fits:
        for at, was in enumerate(draft, 1):
            match = None if at in rows else next((span for span in left if fit(span, was)), None)
            if match is not None:
                left.remove(match)
                rows[at] = SpanRow(at, Action.APPROVE if match == was else Action.REVISE, match, was)
    for at, was in enumerate(draft, 1):
        best = max(left, key=was.overlap, default=None)
        if at in rows:
            continue
        if best is None or not was.overlap(best):
            rows[at] = SpanRow(at, Action.DELETE, was, was)
            continue
        left.remove(best)
        rows[at] = SpanRow(at, Action.REVISE, best, was)
    return [*(rows[at] for at in sorted(rows)), *(SpanRow(None, Action.ADD, span) for span in left)]


def _checked(span: Span) -> Span:
    if len(span.note) > MAX_REMARK:
        raise InputError(tr("A note is too long: shorten it to {limit} characters.", limit=f"{MAX_REMARK:,}"))
    return span


def check_score(score: float | None, typology: Typology) -> float | None:
    """Check the score that a person gave after marking the spans; None if the weights give the score.

    Raises:
        InputError: it is missing, or not a whole number from 0 to 100.
    """
    if typology.scoring is not Scoring.ESA:
        return None
    if score is None or not (0 <= score <= 100 and float(score).is_integer()):
        raise InputError(tr("Give a score: a whole number from 0 to 100."))
    return float(score)


def span_from_json(value: Mapping[str, Any]) -> Span:
    return Span(
        value["start"], value["end"], value["severity"], value["category"], Side(value["side"]), value["note"]
    )


def row_from_json(value: Mapping[str, Any]) -> SpanRow:
    was = span_from_json(value["was"]) if value["was"] else None
    return SpanRow(value["at"], Action(value["action"]), span_from_json(value["span"]), was)
