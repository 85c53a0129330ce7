"""The four actions on evaluation rows: check a submission, and compute its changes.

Pure. The drafted text always comes from the database; a browser sends ids, actions, reasons, new texts and
the score. An action compares with the draft, never with the previous save, so the latest revision alone shows
the net change (CoEval paper, stage 2).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, ConfigDict, Field, Strict

from coeval.domain import (
    MAX_ADDED,
    MAX_REMARK,
    Action,
    Arm,
    Conduct,
    Draft,
    DraftStatus,
    EvaluationRow,
    Filter,
    Quote,
    RowKind,
    Scale,
    ScrutinyRow,
)
from coeval.errors import InputError
from coeval.language import tr, trn

# A save as a browser sends it. The server validates the JSON against these classes.

MAX_ROWS = 500
"""Largest number of drafted lines in one table; a draft has a handful, a ballot a few dozen."""

LARGEST_ID = 2**53 - 1
"""The largest whole number that JavaScript represents exactly."""


def check_text(text: str) -> str:
    """Return a text that a database and a CSV file can hold: without NUL or half a surrogate pair."""
    if "\x00" in text or any("\ud800" <= character <= "\udfff" for character in text):
        raise ValueError(
            tr("it contains a character that cannot be stored: delete the character and try again")
        )
    return text


Remark = Annotated[str, Field(strict=True, max_length=MAX_REMARK), AfterValidator(check_text)]
Id = Annotated[int, Field(strict=True, ge=1, le=LARGEST_ID)]
Count = Annotated[int, Field(strict=True, ge=0, le=LARGEST_ID)]
Score = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Flag = Annotated[bool, Strict()]
Uid = Annotated[str, Field(pattern=r"^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$")]
Decision = Literal[Action.APPROVE, Action.DELETE, Action.REVISE]


class Exact:
    """The base of what a browser sends: unknown fields are refused."""

    __slots__ = ()
    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")


@dataclass(frozen=True, slots=True)
class SentRow(Exact):
    """A person's action on one drafted line; ``action`` is None while it is undecided."""

    id: Id
    action: Decision | None = None
    reason: Remark = ""
    new_text: Remark = ""


@dataclass(frozen=True, slots=True)
class AddedRow(Exact):
    """A line that a person adds."""

    kind: Literal[RowKind.CONCLUSION, RowKind.EVIDENCE]
    new_text: Remark
    reason: Remark = ""


@dataclass(frozen=True, slots=True)
class Sent(Conduct, Exact):
    """A save of one evaluation; ``revision`` is the revision that it changes.

    ``first`` is True for a score that is requested before the draft is shown; ``filter`` chooses the next screen.
    """

    uid: Uid
    instance: Id
    criterion: Id
    draft: Id | None
    revision: Count
    score: Score | None
    rows: Annotated[tuple[SentRow, ...], Field(max_length=MAX_ROWS)] = ()
    added: Annotated[tuple[AddedRow, ...], Field(max_length=MAX_ADDED)] = ()
    first: Flag = False
    filter: Filter = Filter.UNFINISHED
    opened_at: Annotated[str, Field(max_length=40)] = field(default="", kw_only=True)
    active_ms: Count | None = field(default=None, kw_only=True)
    bulk: Flag = field(default=False, kw_only=True)


def list_marks(draft: Draft) -> tuple[Quote, ...]:
    """Return the passages that the draft's lines of evidence quote, in the order of the texts.

    Each passage appears once and without its line, so that neither number nor order reveals the draft's
    opinion. Quotes in the conclusion are left out, because they support its verdict.
    """
    marks = {
        (quote.place, quote.start, quote.end): quote
        for row in draft.rows
        if row.kind is RowKind.EVIDENCE
        for quote in row.quotes
        if quote.located
    }
    return tuple(marks[key] for key in sorted(marks, key=lambda key: (str(key[0]), key[1] or 0, key[2] or 0)))


def keep_reasons(draft: Draft) -> Draft:
    """Return the draft with only its lines of evidence that do not state the score.

    The conclusion, the score and the origin of the score are left out. An unscored draft looks like any
    other.
    """
    rows = tuple(
        row
        for row in draft.rows
        if row.kind is RowKind.EVIDENCE
        and not (draft.score is not None and states_score(row.text, draft.score))
    )
    return replace(draft, rows=rows, score=None, reason="", status=DraftStatus.OK)


def states_score(text: str, score: float) -> bool:
    """Return whether a line contains the score as a number or a word, in any meaning.

    It is deliberately too strict: a line with "three steps" in a draft with the score 3 is also withheld.

    >>> states_score("I give it 4/5.", 4), states_score("It lists 4.5 km.", 4), states_score("A four at best.", 4)
    (True, False, True)
    """
    numbers = (float(number.replace(",", ".")) for number in NUMBER.findall(text))
    if any(abs(number - score) < 0.005 for number in numbers):
        return True
    word = SCORE_WORDS.get(int(score)) if score == int(score) else None
    return word is not None and re.search(rf"\b{word}\b", text, re.IGNORECASE) is not None


NUMBER = re.compile(r"(?<![\w.,])\d{1,3}(?:[.,]\d{1,4})?(?![\w]|[.,]\d)")
SCORE_WORDS = dict(
    enumerate(("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"))
)


def check(
    draft: Draft | None,
    scale: Scale,
    arm: Arm,
    score: float | None,
    sent: Sequence[SentRow],
    added: Sequence[AddedRow],
) -> tuple[ScrutinyRow, ...]:
    """Return the rows of a submission, in the order of the draft, with added lines last.

    ``draft`` is the draft on the screen, including any planted error. In arms that show none of its lines, it
    is ignored: there every line is the person's own.

    Raises:
        InputError: a line has no action, the score is missing or not on the scale, a revised or added line is
            empty, a text is too long, or a line does not belong to the draft.
    """
    shown = None if arm in (Arm.BLIND, Arm.EVIDENCE) else draft
    if score is None or not scale.admits(score):
        reasons = (
            tr("no score is chosen")
            if score is None
            else tr("{score} is not on the scale", score=f"{score:g}")
        )
        raise InputError(
            tr("The score is missing: {given}; choose one of {scale}.", given=reasons, scale=scale)
        )
    drafted = shown.rows if shown else ()
    _check_lengths([*(t for row in sent for t in (row.reason, row.new_text)), *(a.new_text for a in added)])
    by_id = {row.id: row for row in sent}
    if by_id.keys() - {row.id for row in drafted}:
        raise InputError(tr("A line of this evaluation is not part of the draft shown: reload the page."))
    _check_decided(drafted, by_id)
    rows = [
        _score_row(line, shown, score) if line.kind is RowKind.SCORE else _check_row(line, by_id[line.id])
        for line in drafted
    ]
    if not any(row.kind is RowKind.SCORE for row in rows):
        rows.append(ScrutinyRow(RowKind.SCORE, Action.ADD, text=f"{score:g}"))
    return (*rows, *_check_added(added))


def _check_lengths(texts: Iterable[str]) -> None:
    for text in texts:
        if len(text) > MAX_REMARK:
            raise InputError(
                tr(
                    "“{text}…” has {length} characters; shorten it to {limit}.",
                    text=text[:40],
                    length=f"{len(text):,}",
                    limit=f"{MAX_REMARK:,}",
                )
            )


def _check_decided(drafted: Sequence[EvaluationRow], by_id: dict[int, SentRow]) -> None:
    names = name_rows(drafted)
    open_ = [
        name
        for name, line in zip(names, drafted, strict=True)
        if line.kind is not RowKind.SCORE and (line.id not in by_id or by_id[line.id].action is None)
    ]
    if open_:
        raise InputError(
            trn(
                "{n} line still needs a decision: {names}.",
                "{n} lines still need a decision: {names}.",
                len(open_),
                names=", ".join(open_),
            )
        )


def name_rows(rows: Sequence[EvaluationRow | ScrutinyRow]) -> list[str]:
    """Return the name of each line on the screen: Conclusion, Score, Evidence 1, Evidence 2, ...

    >>> name_rows([EvaluationRow(RowKind.SCORE, "4"), EvaluationRow(RowKind.EVIDENCE, "a")])
    ['Score', 'Evidence 1']
    """
    names, evidence = [], 0
    for row in rows:
        evidence += row.kind is RowKind.EVIDENCE
        names.append(
            tr("Evidence {number}", number=evidence)
            if row.kind is RowKind.EVIDENCE
            else tr("Score")
            if row.kind is RowKind.SCORE
            else tr("Conclusion")
        )
    return names


def _score_row(line: EvaluationRow, draft: Draft | None, score: float) -> ScrutinyRow:
    if draft is not None and draft.score == score:
        return ScrutinyRow(RowKind.SCORE, Action.APPROVE, line.id)
    return ScrutinyRow(RowKind.SCORE, Action.REVISE, line.id, text=f"{score:g}")


def _check_row(line: EvaluationRow, sent: SentRow) -> ScrutinyRow:
    new_text, reason = sent.new_text.strip(), sent.reason.strip()
    if sent.action is Action.APPROVE or (sent.action is Action.REVISE and new_text == line.text.strip()):
        return ScrutinyRow(line.kind, Action.APPROVE, line.id)
    if sent.action is Action.DELETE:
        return ScrutinyRow(line.kind, Action.DELETE, line.id, reason)
    if sent.action is not Action.REVISE:
        raise InputError(
            tr("A drafted line can be approved, revised or deleted, not “{action}”.", action=sent.action)
        )
    if not new_text:
        raise InputError(tr("Write the new text of “{text}”, or approve or delete it.", text=line.text[:50]))
    return ScrutinyRow(line.kind, Action.REVISE, line.id, reason, new_text)


def _check_added(added: Sequence[AddedRow]) -> list[ScrutinyRow]:
    if len(added) > MAX_ADDED:
        raise InputError(
            tr(
                "You can add at most {limit} lines to an evaluation; this one has {n}.",
                limit=MAX_ADDED,
                n=len(added),
            )
        )
    for row in added:
        if not row.new_text.strip():
            raise InputError(tr("A line you added is empty: write it, or remove it."))
    return [
        ScrutinyRow(row.kind, Action.ADD, None, row.reason.strip(), row.new_text.strip()) for row in added
    ]
