"""The four actions: what a submission must hold."""

from __future__ import annotations

from dataclasses import replace

import pytest

from coeval.domain import Action, Arm, Draft, EvaluationRow, RowKind, Scale, ScrutinyRow
from coeval.errors import InputError
from coeval.rules.evaluation_rows import AddedRow, SentRow, check

CONCLUSION, SCORE, EVIDENCE = RowKind.CONCLUSION, RowKind.SCORE, RowKind.EVIDENCE
DRAFT = Draft(
    instance=1,
    criterion=1,
    score=4.0,
    rows=(
        EvaluationRow(CONCLUSION, "Clear.", id=10),
        EvaluationRow(SCORE, "4", id=11),
        EvaluationRow(EVIDENCE, "“the cat”", id=12),
    ),
    id=5,
)
APPROVED = [SentRow(10, Action.APPROVE), SentRow(12, Action.APPROVE)]


def rows(
    score: float | None, sent: list[SentRow], added: list[AddedRow] | None = None
) -> tuple[ScrutinyRow, ...]:
    return check(DRAFT, Scale(), Arm.ASSISTED, score, sent, added or [])


def test_a_revision_that_changes_nothing_is_an_approval() -> None:
    sent = [SentRow(10, Action.REVISE, "hm", " Clear. "), SentRow(12, Action.DELETE, "wrong")]
    first, _, last = rows(4, sent)
    assert (first.action, first.reason) == (Action.APPROVE, "")
    assert (last.action, last.reason) == (Action.DELETE, "wrong")


@pytest.mark.parametrize(
    ("score", "sent", "added", "said"),
    [
        (None, APPROVED, [], "no score is chosen"),
        (6, APPROVED, [], "6 is not on the scale"),
        (2.5, APPROVED, [], "2.5 is not on the scale"),
        (float("nan"), APPROVED, [], "not on the scale"),
        (4, APPROVED[:1], [], "1 line still needs a decision: Evidence 1"),
        (4, [], [], "2 lines still need a decision: Conclusion, Evidence 1"),
        (4, [*APPROVED, SentRow(99, Action.APPROVE)], [], "not part of the draft"),
        (4, [SentRow(10, Action.REVISE), APPROVED[1]], [], "Write the new text of “Clear.”"),
        (4, [SentRow(10, Action.ADD), APPROVED[1]], [], "not “add”"),
        (4, APPROVED, [AddedRow(EVIDENCE, "  ")], "empty"),
        (4, [APPROVED[0], SentRow(12, None)], [], "1 line still needs a decision: Evidence 1"),
        (4, [APPROVED[0], SentRow(12, Action.DELETE, "y" * 10_001)], [], "10,001 characters"),
    ],
)
def test_check_refuses(score: float | None, sent: list[SentRow], added: list[AddedRow], said: str) -> None:
    with pytest.raises(InputError, match=said):
        rows(score, sent, added)


def test_a_blind_person_cannot_send_lines_of_the_draft() -> None:
    with pytest.raises(InputError, match="not part of the draft"):
        check(DRAFT, Scale(), Arm.BLIND, 3, APPROVED, [])


def test_an_unscored_draft_still_takes_a_score() -> None:
    made = check(Draft(1, 1, None, id=6), Scale(0, 1), Arm.ASSISTED, 0, [], [])
    assert made == (ScrutinyRow(SCORE, Action.ADD, text="0"),)


def test_a_draft_without_a_line_of_its_score_gets_one_and_no_other_gets_two() -> None:
    for lines in (DRAFT.rows, DRAFT.rows[1:2], DRAFT.rows[2:], ()):
        sent = [SentRow(line.id, Action.APPROVE) for line in lines if line.kind is not SCORE]
        made = check(replace(DRAFT, rows=lines), Scale(), Arm.ASSISTED, 4, sent, [])
        assert [row.kind for row in made].count(SCORE) == 1 and len(made) == len(
            {*lines, SCORE} - {DRAFT.rows[1]}
        )


def test_every_part_of_a_row_is_kept() -> None:
    """By hand: what each action keeps of the line, its id, the reason and the text."""
    drop, change = SentRow(10, Action.DELETE, " wrong "), SentRow(12, Action.REVISE, " vague ", " “a cat” ")
    assert rows(4, [drop, change]) == (
        ScrutinyRow(CONCLUSION, Action.DELETE, 10, "wrong"),
        ScrutinyRow(SCORE, Action.APPROVE, 11),
        ScrutinyRow(EVIDENCE, Action.REVISE, 12, "vague", "“a cat”"),
    )
    # an approval keeps neither reason nor text; what is added has no line
    assert rows(
        2, [SentRow(10, Action.APPROVE, "x", "y"), *APPROVED[1:]], [AddedRow(EVIDENCE, " new ", " why ")]
    ) == (
        ScrutinyRow(CONCLUSION, Action.APPROVE, 10),
        ScrutinyRow(SCORE, Action.REVISE, 11, text="2"),
        ScrutinyRow(EVIDENCE, Action.APPROVE, 12),
        ScrutinyRow(EVIDENCE, Action.ADD, None, "why", "new"),
    )


def test_without_a_draft_the_score_is_a_line_of_ones_own() -> None:
    added = [AddedRow(CONCLUSION, "Plain.")]
    own = (ScrutinyRow(SCORE, Action.ADD, text="3"), ScrutinyRow(CONCLUSION, Action.ADD, None, "", "Plain."))
    assert check(None, Scale(), Arm.ASSISTED, 3, [], added) == own
    assert check(DRAFT, Scale(), Arm.BLIND, 3, [], added) == own


def test_how_many_lines_can_be_added() -> None:
    line = AddedRow(EVIDENCE, "more")
    assert len(rows(4, APPROVED, [line] * 50)) == 53
    with pytest.raises(InputError, match="You can add at most 50 lines to an evaluation; this one has 51"):
        rows(4, APPROVED, [line] * 51)
