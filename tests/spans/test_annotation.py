"""Spans in the store: what a person is shown, what is saved of what they did, and what is refused."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from datetime import timedelta

import pytest

from coeval.clock import time_from_now
from coeval.domain import Action, Arm
from coeval.errors import InputError, NotGivenError, StaleError
from coeval.extensions.spans import annotation, queries
from coeval.extensions.spans.annotation import SentSheet, Where
from coeval.extensions.spans.report import Changes, compare_spans
from coeval.extensions.spans.rows import SentSpan, arrange, settle
from coeval.extensions.spans.typology import Side, Span, load_typology
from coeval.rules.arms import Aliases, Design
from coeval.usecases.access import OPERATOR
from coeval.usecases.scrutiny.design import set_design
from coeval.usecases.scrutiny.policies import set_team
from tests.spans.bench import DRAFT, OUTPUT, SLUG, SOURCE, add_annotator, find, make_span_study

WMT, ESA = load_typology("wmt"), load_typology("esa")


def sent(sheet, rows, uid="0000-uid-1", **more) -> SentSheet:
    draft = sheet.draft.id if sheet.draft else None
    return SentSheet(uid, sheet.instance.id, draft, sheet.revision, tuple(rows), **more)


def approve_all(sheet) -> list[SentSpan]:
    return [SentSpan(at, Action.APPROVE) for at in range(1, len(sheet.shown) + 1)]


def open_first(context, person):
    """The sheet of the instance with three drafted spans."""
    first = annotation.open_sheet(context, person, SLUG)
    if first.instance.external_id != "s1":
        first = annotation.open_sheet(context, person, SLUG, Where(instance=first.instance.id, step=1))
    return first


def test_a_person_works_through_the_queue(context) -> None:
    make_span_study(context)
    ana = add_annotator(context, "Ana")
    sheet = annotation.open_sheet(context, ana, SLUG)
    assert (sheet.total, sheet.done, sheet.position) == (2, 0, 1)
    for n in (1, 2):
        sheet = annotation.open_sheet(context, ana, SLUG)
        annotation.save_spans(context, ana, SLUG, sent(sheet, approve_all(sheet), f"0000-uid-{n}"))
    end = annotation.open_sheet(context, ana, SLUG)
    assert end.instance is None and end.done == 2
    with context.store.read() as db:
        assert [person for person, _ in queries.list_submissions(db, end.task.id)] == ["Ana", "Ana"]


def test_what_was_done_is_compared_with_the_draft_and_appended(context) -> None:
    make_span_study(context)
    ana = add_annotator(context, "Ana")
    sheet = open_first(context, ana)
    assert sheet.shown == tuple(arrange(DRAFT)) and sheet.assignment.arm is Arm.ASSISTED
    moved = replace(sheet.shown[0], end=sheet.shown[0].end - 5)
    added = find(SOURCE, "hill", "minor", "Accuracy/Omission", side=Side.INPUT)
    rows = [
        SentSpan(1, Action.REVISE, moved),
        SentSpan(2, Action.REVISE, sheet.shown[1]),  # nothing changed: an approval
        SentSpan(3, Action.DELETE),
        SentSpan(None, Action.ADD, added),
    ]
    saved = annotation.save_spans(context, ana, SLUG, sent(sheet, rows))
    assert [row.action for row in saved.rows] == [Action.REVISE, Action.APPROVE, Action.DELETE, Action.ADD]
    assert saved.spans == (moved, sheet.shown[1], added)
    assert compare_spans(sheet.shown, saved.spans) == Changes(kept=1, moved=1, deleted=1, added=1)
    # the same key once more is the same save; another key is a further revision, against the draft again
    assert annotation.save_spans(context, ana, SLUG, sent(sheet, rows)) == saved
    again = annotation.open_sheet(context, ana, SLUG, Where(instance=sheet.instance.id))
    assert again.revision == 1 and again.shown == sheet.shown
    second = annotation.save_spans(context, ana, SLUG, sent(again, approve_all(again), "0000-uid-2"))
    assert second.revision == 2 and {row.action for row in second.rows} == {Action.APPROVE}
    with context.store.read() as db:
        kept = db.conn.execute("SELECT revision, submitted_at FROM spans_submission ORDER BY id").fetchall()
        assert [revision for revision, _ in kept] == [1, 2] and kept[0][1] == saved.submitted_at
        assert [one.revision for _, one in queries.list_submissions(db, sheet.task.id)] == [2]


def test_a_stale_page_is_refused_and_nothing_is_overwritten(context) -> None:
    make_span_study(context)
    ana = add_annotator(context, "Ana")
    sheet = open_first(context, ana)
    annotation.save_spans(context, ana, SLUG, sent(sheet, approve_all(sheet)))
    with pytest.raises(StaleError, match="Nothing was overwritten"):
        annotation.save_spans(context, ana, SLUG, sent(sheet, approve_all(sheet), "0000-uid-2"))
    with pytest.raises(StaleError):
        other = replace(sent(sheet, approve_all(sheet), "0000-uid-3"), revision=1, draft=None)
        annotation.save_spans(context, ana, SLUG, other)


def test_what_cannot_be_is_refused(context) -> None:
    make_span_study(context)
    ana, ben = add_annotator(context, "Ana"), add_annotator(context, "Ben")
    sheet = open_first(context, ana)
    good = approve_all(sheet)
    for rows, said in (
        (good[:2], "1 span still needs"),
        ([*good[:2], SentSpan(3, None)], "1 span still needs"),
        ([*good, SentSpan(4, Action.DELETE)], "does not belong to this draft"),
        ([*good, SentSpan(1, Action.DELETE)], "does not belong to this draft"),
        ([*good[:2], SentSpan(3, Action.ADD)], "invalid action"),
        ([*good, SentSpan(None, Action.ADD, Span(0, 999, "major", "Other"))], "is not in the output"),
        ([*good, SentSpan(None, Action.ADD, Span(0, 3, "major", "Rude"))], "not a category"),
        ([*good, SentSpan(None, Action.ADD, sheet.shown[0])], "the same"),
        ([*good, SentSpan(None, Action.ADD)], "no place"),
    ):
        with pytest.raises(InputError, match=said):
            annotation.save_spans(context, ana, SLUG, sent(sheet, rows))
    annotation.save_spans(context, ana, SLUG, sent(sheet, good))
    annotation.open_sheet(context, ben, SLUG)
    with pytest.raises(InputError, match="key of another save"):
        annotation.save_spans(context, ben, SLUG, sent(sheet, good))
    with pytest.raises(InputError, match="1 saves"):
        annotation.set_typology(context, OPERATOR, SLUG, ESA)


def test_an_instance_of_another_person_is_refused(context) -> None:
    """Ben opened nothing yet: his save draws his queue, in which the instance of Ana is not."""
    make_span_study(context)
    ana, ben = add_annotator(context, "Ana"), add_annotator(context, "Ben")
    set_team(context, OPERATOR, SLUG, ["Ana", "Ben"], 1)
    sheet = annotation.open_sheet(context, ana, SLUG)
    with pytest.raises(NotGivenError):
        annotation.save_spans(context, ben, SLUG, sent(sheet, approve_all(sheet)))
    annotation.save_spans(context, ana, SLUG, sent(sheet, approve_all(sheet)))


def test_a_restored_server_accepts_a_save_with_its_times(context) -> None:
    """Ben has no queue, as after a restoration, and his browser's clock is a little ahead."""
    make_span_study(context)
    ben = add_annotator(context, "Ben")
    sheet = open_first(context, add_annotator(context, "Ana"))
    ahead = time_from_now(timedelta(seconds=2))
    saved = annotation.save_spans(
        context, ben, SLUG, sent(sheet, approve_all(sheet), opened_at=ahead, active_ms=700)
    )
    assert saved.opened_at and saved.active_ms is not None and saved.annotator == ben.id


def test_the_blind_arm_sees_nothing_of_the_draft(context) -> None:
    from coeval.extensions.spans.page import sheet_json

    make_span_study(context)
    set_design(context, OPERATOR, SLUG, Design(blind_share=1.0))
    sheet = open_first(context, add_annotator(context, "Ana"))
    assert sheet.assignment.arm is Arm.BLIND and sheet.draft is None and sheet.shown == ()
    shown = sheet_json(sheet, Aliases.of("s", 1))
    assert shown["rows"] == [] and shown["draft"] is None and not shown["awaits_first"]
    saved = annotation.save_spans(context, add_annotator(context, "Ana"), SLUG, sent(sheet, []))
    assert saved.arm is Arm.BLIND and saved.draft is None


def test_the_first_arm_marks_before_it_sees_the_draft(context) -> None:
    make_span_study(context)
    set_design(context, OPERATOR, SLUG, Design(first_share=1.0))
    ana = add_annotator(context, "Ana")
    sheet = open_first(context, ana)
    assert sheet.awaits_first and sheet.shown == () and sheet.draft is None
    own = SentSpan(None, Action.ADD, find(OUTPUT, "Haus", "minor", "Other"))
    first = annotation.save_spans(context, ana, SLUG, sent(sheet, [own]))
    assert first.first and annotation.open_sheet(context, ana, SLUG).done == 0
    then = annotation.open_sheet(context, ana, SLUG, Where(instance=sheet.instance.id))
    assert not then.awaits_first and then.shown == tuple(arrange(DRAFT)) and then.revision == 1
    rows = [*approve_all(then), own]
    assert not annotation.save_spans(context, ana, SLUG, sent(then, rows, "0000-uid-2")).first
    assert annotation.open_sheet(context, ana, SLUG).done == 1


@pytest.mark.parametrize("design", [Design(evidence_share=1.0), Design(reasons_share=1.0)])
def test_arms_that_show_a_part_of_a_draft_show_no_span(context, design: Design) -> None:
    make_span_study(context)
    set_design(context, OPERATOR, SLUG, design)
    ana = add_annotator(context, "Ana")
    sheet = open_first(context, ana)
    assert sheet.shown == () and sheet.draft is None
    assert annotation.save_spans(context, ana, SLUG, sent(sheet, [])).arm is Arm.UNDRAFTED


def test_an_esa_score_is_asked_for_after_the_spans(context) -> None:
    make_span_study(context, typology=ESA, drafts=[[replace(one, category="") for one in DRAFT], []])
    ana = add_annotator(context, "Ana")
    sheet = open_first(context, ana)
    for score in (None, 101.0, 50.5, -1.0):
        with pytest.raises(InputError, match="from 0 to 100"):
            annotation.save_spans(context, ana, SLUG, sent(sheet, approve_all(sheet), score=score))
    assert annotation.save_spans(context, ana, SLUG, sent(sheet, approve_all(sheet), score=0.0)).score == 0.0


def test_two_spans_may_overlap_and_differ() -> None:
    a, b = find(OUTPUT, "rote Haus"), find(OUTPUT, "Haus steht")
    rows = settle((), [SentSpan(None, Action.ADD, a), SentSpan(None, Action.ADD, b)], WMT, SOURCE, OUTPUT)
    assert [row.span for row in rows] == [a, b]


@pytest.mark.sqlite
def test_saves_survive_a_kill_and_a_person_can_be_taken_out(context) -> None:
    from coeval.store.queries.removal import remove_person

    make_span_study(context)
    ana = add_annotator(context, "Ana")
    sheet = open_first(context, ana)
    annotation.save_spans(context, ana, SLUG, sent(sheet, approve_all(sheet)))
    with sqlite3.connect(str(context.store.address).removeprefix("sqlite:///")) as other:
        assert other.execute("SELECT count(*) FROM spans_submission").fetchone() == (1,)
    with context.store.write() as db:
        removed = remove_person(db, ana.id)
    assert removed["spans_submission"] == 1
