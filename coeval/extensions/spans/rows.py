"""Pure rules for a person's action on each displayed span, and for the spans that result.

The browser sends the place of a drafted span in the list that was shown, never the drafted span itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from coeval.domain import MAX_REMARK, Action
from coeval.errors import InputError
from coeval.extensions.spans.typology import Scoring, Side, Span, Typology
from coeval.language import tr, trn
from coeval.rules.arms import draw_share
from coeval.rules.evaluation_rows import Exact, Id

MAX_SPANS = 500
"""The largest number of spans in one segment."""

SALT = "false span"
NEAR = 8
"""The smallest length in characters of a planted span if there is no drafted span to match."""


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
    planted: bool = False

    @property
    def stays(self) -> bool:
        return self.action is not Action.DELETE


def arrange(spans: Iterable[Span]) -> list[Span]:
    """Sort spans in the order of the screen: spans of the input, then of the output, then without a place.

    A planted span is sorted among the others, so that its position does not reveal it.
    """
    return sorted(
        spans,
        key=lambda one: (
            not one.placed,
            one.side is Side.OUTPUT,
            one.start or 0,
            one.end or 0,
            one.severity,
            one.category,
            one.note,
        ),
    )


def settle(
    shown: Sequence[Span],
    planted: Span | None,
    sent: Sequence[SentSpan],
    typology: Typology,
    source: str,
    output: str,
) -> tuple[SpanRow, ...]:
    """Return the stored lines of a save, each compared with the draft.

    A revision without a change becomes an approval.

    Raises:
        InputError: a drafted span has no decision or two, or a span does not fit its text or the typology.
    """
    if len(sent) > MAX_SPANS + len(shown):
        raise InputError(tr("There are more than {most} spans: delete some.", most=MAX_SPANS))
    decided: dict[int, SentSpan] = {}
    rows: list[SpanRow] = []
    for one in sent:
        if one.at is None:
            if one.span is None:
                raise InputError(tr("A span has no place: reload the page and try again."))
            rows.append(SpanRow(None, Action.ADD, typology.check_span(_checked(one.span), source, output)))
        elif not 1 <= one.at <= len(shown) or one.at in decided:
            raise InputError(tr("A line does not belong to this draft: reload the page and try again."))
        else:
            decided[one.at] = one
    open_lines = sum(one.action is None for one in decided.values()) + len(shown) - len(decided)
    if open_lines:
        raise InputError(
            trn(
                "{n} span still needs a decision: approve it, change it or delete it.",
                "{n} spans still need a decision: approve them, change them or delete them.",
                open_lines,
            )
        )
    kept = [_decide(decided[at], was, planted, typology, source, output) for at, was in enumerate(shown, 1)]
    spans = [row.span for row in (*kept, *rows) if row.stays]
    if len(set(spans)) < len(spans):
        raise InputError(tr("Two spans are the same: delete one of them."))
    return (*kept, *rows)


def _decide(
    one: SentSpan, was: Span, planted: Span | None, typology: Typology, source: str, output: str
) -> SpanRow:
    assert one.at is not None and one.action is not None
    is_planted = planted is not None and was == planted
    if one.action is Action.REVISE and one.span is not None:
        span = _checked(one.span)
        if span.same_place(was) and span.same_kind(was) and span.note == was.note:
            return SpanRow(one.at, Action.APPROVE, was, was, is_planted)
        return SpanRow(one.at, Action.REVISE, typology.check_span(span, source, output), was, is_planted)
    if one.action not in (Action.APPROVE, Action.DELETE):
        raise InputError(tr("A line has an invalid action: reload the page and try again."))
    return SpanRow(one.at, one.action, was, was, is_planted)


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


def plant_span(
    seed: str,
    annotator: int,
    instance: int,
    share: float,
    draft: Sequence[Span],
    output: str,
    typology: Typology,
) -> Span | None:
    """Draw a span to plant on unmarked words of this person's draft; None if no error is planted.

    It has the severity and category of a drafted span, so that it looks genuine.
    """
    if draw_share(seed, SALT, annotator, instance) >= share or not draft:
        return None
    model = draft[int(draw_share(seed, SALT, "model", annotator, instance) * len(draft))]
    length = (model.edges[1] - model.edges[0]) if model.placed and model.side is Side.OUTPUT else NEAR
    taken = [one.edges for one in draft if one.placed and one.side is Side.OUTPUT]
    places = [
        (start, end)
        for start, end in _list_phrases(output, length)
        if not any(start < b and a < end for a, b in taken)
    ]
    if not places:
        return None
    start, end = places[int(draw_share(seed, SALT, "place", annotator, instance) * len(places))]
    offered = {one.name for one in typology.categories if one.side is Side.OUTPUT}
    category = model.category if not offered or model.category in offered else sorted(offered)[0]
    return Span(start, end, model.severity, category)


def _list_phrases(text: str, length: int) -> list[tuple[int, int]]:
    """Return the shortest run of whole words with at least that length, for each first word."""
    from coeval.extensions.spans.agreement import find_tokens

    words = [place for place in find_tokens(text) if text[place[0]].isalnum()]
    phrases = []
    for start, _ in words:
        end = next((last for _, last in words if last - start >= length), None)
        if end is not None:
            phrases.append((start, end))
    return phrases


def span_from_json(value: Mapping[str, Any]) -> Span:
    return Span(
        value["start"], value["end"], value["severity"], value["category"], Side(value["side"]), value["note"]
    )


def row_from_json(value: Mapping[str, Any]) -> SpanRow:
    was = span_from_json(value["was"]) if value["was"] else None
    return SpanRow(value["at"], Action(value["action"]), span_from_json(value["span"]), was, value["planted"])
