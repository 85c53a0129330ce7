"""What browsers send is checked before anything reads it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from coeval.domain import MAX_ADDED, MAX_REMARK, Action, RowKind, Vote
from coeval.errors import InputError
from coeval.rules.evaluation_rows import MAX_ROWS, Sent
from coeval.ui.server.payloads import BallotPayload, MarkPayload, explain

ROW = {"id": 7, "action": "revise", "reason": "why", "new_text": "new"}
MINE = {"kind": "evidence", "new_text": "mine", "reason": ""}
SUBMISSION: dict[str, Any] = {
    "uid": "01234567-89ab-4cde-8f01-23456789abcd",
    "instance": 1,
    "criterion": 2,
    "draft": None,
    "revision": 0,
    "opened_at": "2026-01-31T09:30:00.000Z",
    "active_ms": 1200,
    "score": 3,
    "bulk": False,
    "rows": [ROW],
    "added": [MINE],
    "filter": "unfinished",
}


SENT = TypeAdapter(Sent)
"""How the route reads the body of a save."""


def change(base: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """A copy of ``base`` with one field set: "rows.0.action" is the action of the first row."""
    if "." not in path:
        return base | {path: value}
    head, rest = path.split(".", 1)
    inner = base[head]
    if isinstance(inner, list):
        index, _, tail = rest.partition(".")
        return base | {
            head: [change(one, tail, value) if n == int(index) else one for n, one in enumerate(inner)]
        }
    return base | {head: change(inner, rest, value)}


def test_a_submission_becomes_what_the_use_case_takes() -> None:
    sent = SENT.validate_python(SUBMISSION)
    assert (sent.score, sent.rows[0].action, sent.rows[0].id) == (3.0, Action.REVISE, 7)
    assert (sent.added[0].kind, sent.added[0].new_text) == (RowKind.EVIDENCE, "mine")


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("rows.0.action", "banana"),
        ("rows.0.action", "add"),
        ("rows.0.id", "7"),
        ("rows.0.id", 0),
        ("rows.0.id", 2**60),
        ("rows.0.id", True),
        ("rows.0.text", "forged draft"),
        ("rows.0.kind", "score"),
        ("rows.0.reason", "x" * (MAX_REMARK + 1)),
        ("rows.0.new_text", None),
        ("rows.0.new_text", "a\x00b"),
        ("rows.0.new_text", "\ud800"),
        ("rows", [ROW] * (MAX_ROWS + 1)),
        ("rows", {"0": ROW}),
        ("added.0.kind", "score"),
        ("added.0.kind", "criterion"),
        ("score", "3"),
        ("score", float("nan")),
        ("score", float("inf")),
        ("score", True),
        ("uid", "'; DROP TABLE submission; --"),
        ("uid", ""),
        ("revision", -1),
        ("active_ms", 1.5),
        ("filter", "mine"),
        ("person", 3),
        ("submitted_at", "2020-01-01"),
    ],
)
def test_what_a_submission_may_not_hold(path: str, value: Any) -> None:
    with pytest.raises(ValidationError):
        SENT.validate_python(change(SUBMISSION, path, value))


@pytest.mark.parametrize(
    ("path", "value", "sentence"),
    [
        (
            "rows.0.new_text",
            "x" * 12_000,
            "Line 1: the new text has 12,000 characters; shorten it to 10,000.",
        ),
        ("rows.0.action", "banana", "Line 1: “action” is 'banana', which is not valid"),
        ("rows.0.text", "forged", "Line 1: “text” is not expected here: reload the page"),
        ("rows", [ROW] * 501, "“rows” has 501 lines; the limit is 500: remove some"),
        ("added", [MINE] * (MAX_ADDED + 1), "“added” has 51 lines; the limit is 50: remove some"),
        ("rows.0.reason", "a\x00", "Line 1: the reason: it contains a character that cannot be stored"),
        ("score", "5", "the score is '5', which is not valid"),
    ],
)
def test_an_error_names_the_value_and_the_remedy(path: str, value: Any, sentence: str) -> None:
    assert explained(change(SUBMISSION, path, value)).startswith(sentence)


def explained(sent: object) -> str:
    """What a person reads when this is sent as a submission."""
    with pytest.raises(ValidationError) as caught:
        SENT.validate_python(sent)
    return explain([dict(one) for one in caught.value.errors(include_url=False)])


@pytest.mark.parametrize("sent", [None, 3, "x", [], {}, {"uid": 1}, SUBMISSION | {"rows": 5}])
def test_any_other_shape_is_one_sentence_too(sent: object) -> None:
    assert explained(sent).endswith("reload the page and try again.")


def test_marks_may_be_left_as_they_are() -> None:
    assert MarkPayload.model_validate({"instance": 4, "comment": "cut off"}).flagged is None
    with pytest.raises(ValidationError):
        MarkPayload.model_validate({"instance": 4, "flagged": 1})


def test_explain_takes_fastapis_errors() -> None:
    error = {"type": "missing", "loc": ("body", "rows", 2, "id"), "input": {}, "msg": "Field required"}
    assert explain([error]) == "Line 3: “id” is missing: reload the page and try again."


# ---- ballots ---------------------------------------------------------------------------------------

CRITERION = {"kind": "criterion", "new_text": "Be true.", "reason": "mine"}


def parse_ballot(rows: list[dict[str, Any]], added: Sequence[dict[str, Any]] = ()) -> BallotPayload:
    return BallotPayload.model_validate({"round": 1, "revision": 2, "rows": rows, "added": list(added)})


def test_a_ballot_becomes_votes() -> None:
    votes = parse_ballot([{"id": 1, "action": "approve"}, ROW], [CRITERION]).to_votes()
    assert votes == [
        Vote(Action.APPROVE, 1),
        Vote(Action.REVISE, 7, "why", "new"),
        Vote(Action.ADD, None, "mine", "Be true."),
    ]


def test_decisions_become_what_the_use_case_takes() -> None:
    rows = [{"id": 1, "action": "approve"}, ROW, {"id": 2, "action": "delete"}]
    assert parse_ballot(rows, [CRITERION]).to_decisions() == {
        "decisions": {7: "new"},
        "approved": [1],
        "dropped": [2],
        "added": ["Be true."],
    }


def test_what_is_undecided_or_no_criterion_is_said() -> None:
    undecided = parse_ballot([{"id": 1}, {"id": 2}, ROW])
    with pytest.raises(InputError, match="2 criteria still need a decision"):
        undecided.to_votes()
    with pytest.raises(InputError, match="A tie is still open"):
        undecided.to_decisions()
    with pytest.raises(ValidationError):
        parse_ballot([ROW], [CRITERION | {"kind": "evidence"}])
