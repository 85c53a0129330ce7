"""What browsers send is checked before anything reads it; the DataFrames of the ReviewTable."""

from __future__ import annotations

from typing import Any

import gradio as gr
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from coeval.domain import MAX_REMARK, Action, RowKind
from coeval.errors import InputError
from coeval.ui.components.payloads import MAX_ROWS, MarkPayload, SubmissionPayload, explain, parse_table
from coeval.ui.components.review_table.review_table import ReviewTable
from coeval.ui.components.review_table.sheet import COLUMNS, build_sheet

ROW = {"id": 7, "action": "revise", "reason": "why", "new_text": "new"}
TABLE: dict[str, Any] = {"rev": 3, "score": None, "rows": [ROW], "added": []}
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
    "added": [{"kind": "evidence", "new_text": "mine", "reason": ""}],
    "filter": "unfinished",
}


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
    sent = SubmissionPayload.model_validate(SUBMISSION).to_sent()
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
        SubmissionPayload.model_validate(change(SUBMISSION, path, value))


def test_a_criterion_is_no_line_of_an_evaluation() -> None:
    with pytest.raises(InputError, match="Criteria tab"):
        SubmissionPayload.model_validate(change(SUBMISSION, "added.0.kind", "criterion")).to_sent()


@pytest.mark.parametrize(
    ("path", "value", "sentence"),
    [
        (
            "rows.0.new_text",
            "x" * 12_000,
            "Line 1: the new text has 12,000 characters; shorten it to 10,000.",
        ),
        ("rows.0.action", "banana", "Line 1: “action” is 'banana', which cannot be used"),
        ("rows.0.text", "forged", "Line 1: “text” is not expected here: reload the page"),
        ("rows", [ROW] * 501, "“rows” holds 501 lines, more than a table can"),
        ("rows.0.reason", "a\x00", "Line 1: the reason: it holds a character that cannot be stored"),
        ("score", "5", "the score is '5', which cannot be used"),
    ],
)
def test_an_error_names_the_value_and_the_remedy(path: str, value: Any, sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_table(change(TABLE, path, value))
    assert str(caught.value).startswith(sentence)


@pytest.mark.parametrize("sent", [None, 3, "x", [], {}, {"rev": 1}, {"rev": 1, "rows": 5, "added": []}])
def test_any_other_shape_is_one_sentence_too(sent: object) -> None:
    with pytest.raises(InputError, match="reload the page"):
        parse_table(sent)


def test_marks_may_be_left_as_they_are() -> None:
    assert MarkPayload.model_validate({"instance": 4, "comment": "cut off"}).flagged is None
    with pytest.raises(ValidationError):
        MarkPayload.model_validate({"instance": 4, "flagged": 1})


def test_explain_takes_fastapis_errors() -> None:
    error = {"type": "missing", "loc": ("body", "rows", 2, "id"), "input": {}, "msg": "Field required"}
    assert explain([error]) == "Line 3: “id” is missing: reload the page and try again."


# ---- DataFrames ------------------------------------------------------------------------------------


def make_frame() -> pd.DataFrame:
    rows = [
        [1, "criterion", "9 of 10", "Use simple words.", "", Action.APPROVE, "", ""],
        [2, "criterion", "4 of 10", "Use examples.", "also worded: give examples", None, None, float("nan")],
        [None, "criterion", "added", "", "", "add", "mine", "Be true."],
    ]
    frame = pd.DataFrame(rows, columns=COLUMNS)
    frame.attrs = {"rev": 2, "key": "k", "reason_required": True, "add": None}
    return frame


def test_a_frame_becomes_a_sheet() -> None:
    sheet = build_sheet(make_frame())
    assert [(row["id"], row["action"], row["reason"]) for row in sheet["rows"]] == [
        (1, "approve", ""),
        (2, None, ""),
    ]
    assert sheet["added"] == [{"kind": "criterion", "new_text": "Be true.", "reason": "mine"}]
    assert (sheet["rev"], sheet["key"], sheet["readonly"], sheet["reason_required"]) == (2, "k", False, True)


def test_an_untouched_table_gives_the_decisions_it_was_shown_with() -> None:
    table = ReviewTable(render=False)
    back = table.preprocess(table.postprocess(make_frame()))
    assert list(back.columns) == ["id", "kind", "action", "reason", "new_text"]
    assert [None if pd.isna(row.id) else row.id for row in back.itertuples()] == [1, 2, None]
    assert [row.action for row in back.itertuples()] == ["approve", None, "add"]
    assert back.attrs == {"rev": 2, "score": None}


def test_an_edited_table_gives_what_was_sent() -> None:
    back = ReviewTable(render=False).preprocess(TABLE)
    assert back.to_dict("records") == [{"kind": "criterion", **ROW}]
    assert back.attrs["rev"] == 3


def test_a_table_never_shown_is_empty() -> None:
    assert ReviewTable(render=False).preprocess(None).empty


def test_a_forged_table_is_a_message_without_markup() -> None:
    table = ReviewTable(render=False)
    with pytest.raises(gr.Error) as caught:
        table.preprocess(change(TABLE, "rows.0.action", "<form action=//x>"))
    assert "<" not in str(caught.value.message) and "&lt;form" in str(caught.value.message)
    with pytest.raises(gr.Error):
        table.preprocess({"key": "k", "rows": [{"id": "x"}]})


texts = st.text(max_size=40).filter(lambda text: "\x00" not in text)
rows = st.lists(
    st.fixed_dictionaries(
        {
            "id": st.integers(1, 2**53 - 1),
            "action": st.sampled_from([None, "approve", "delete", "revise"]),
            "reason": texts,
            "new_text": texts,
        }
    ),
    max_size=6,
)


@settings(deadline=None)
@given(rows, st.integers(0, 99), st.sampled_from([None, 1.0, 4.5]))
def test_nothing_sent_is_changed_on_the_way(
    sent: list[dict[str, Any]], rev: int, score: float | None
) -> None:
    back = ReviewTable(render=False).preprocess({"rev": rev, "score": score, "rows": sent, "added": []})
    assert [{name: row[name] for name in ROW} for row in back.to_dict("records")] == sent
    assert back.attrs == {"rev": rev, "score": score}
