"""What people may do with criteria: decide and judge, append-only, by arm and role, and never over another's save."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from coeval.clock import time_from_now
from coeval.domain import Action, Arm, Person, Role
from coeval.errors import InputError, NotFoundError, StaleError
from coeval.extensions.rubrics import queries
from coeval.extensions.rubrics.page import sheet_json
from coeval.extensions.rubrics.queries import Criterion, Judgment
from coeval.extensions.rubrics.reports import get_rubrics_report
from coeval.extensions.rubrics.reviews import (
    SentLine,
    Sheet,
    count_criteria,
    get_rubrics_sheet,
    list_rubrics_history,
    submit_rubrics_sheet,
)
from coeval.rules.arms import Aliases, Design
from coeval.store.queries import enrolments, removal, tasks
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.scrutiny.design import set_design
from coeval.usecases.sessions import set_role, sign_in
from coeval.usecases.study_import import import_file
from tests.support.studies.rubrics_study import build_sent, make_known_rubrics


@pytest.fixture
def people(context: Context, owner: Person, tmp_path: Path) -> dict[str, Person]:
    """A study of four instances, its owner, a researcher and two annotators."""
    import_file(context, owner, make_known_rubrics(documents=2).write(tmp_path / "hb.jsonl"), "hb")
    for name in ("Rae", "Ann", "Ben"):
        sign_in(context, name)
    set_role(context, OPERATOR, "Rae", Role.RESEARCHER)
    return {name: sign_in(context, name)[0] for name in ("Olu", "Rae", "Ann", "Ben")}


def add_judgments(context: Context, slug: str = "hb", label: str = "j", value: float = 1.0) -> None:
    """A run that says the same of every criterion, shown to annotators."""
    with context.store.write() as db:
        task = tasks.get_task(db, slug)
        run = queries.add_run(db, task.id, "judgments", label, "m", "instance", "Olu")
        criteria = [one for each in queries.list_task_criteria(db, task.id).values() for one in each]
        queries.record_judgments(
            db, run.id, [Judgment(one.id, value, "Because.", ("Here is",)) for one in criteria]
        )
        queries.show_run(db, task.id, run.id, "Olu")


def keep(sheet: Sheet, criterion: Criterion) -> SentLine:
    return SentLine(criterion.id, Action.APPROVE, value=1.0, evidence="“Here is”")


def test_a_save_is_a_further_revision_and_the_next_instance_follows(
    context: Context, people: dict[str, Person]
) -> None:
    ann = people["Ann"]
    first = get_rubrics_sheet(context, ann, "hb")
    assert (first.total, first.done, len(first.criteria)) == (4, 0, 4)
    submit_rubrics_sheet(context, ann, "hb", build_sent(first, keep))
    assert get_rubrics_sheet(context, ann, "hb").position != first.position
    again = get_rubrics_sheet(context, ann, "hb", first.position)

    def reject(sheet: Sheet, criterion: Criterion) -> SentLine:
        return SentLine(criterion.id, Action.DELETE, reason="Not asked.")

    added = SentLine(None, Action.ADD, "Thanks the person.", 2.0, "style", value=0.0)
    saved = submit_rubrics_sheet(context, ann, "hb", build_sent(again, reject, (added,)))
    assert saved.revision == 2
    _, history = list_rubrics_history(context, ann, "hb", first.position)
    assert [one.revision for one in history] == [1, 2]
    assert [line.action for line in history[0].lines] == [
        "approve"
    ] * 4  # nothing that was saved is overwritten
    assert [line.action for line in history[1].lines] == ["delete"] * 4 + ["add"]
    assert history[1].annotator == ann.id and history[1].submitted_at
    report = get_rubrics_report(context, people["Olu"], "hb")
    assert (report.changes.delete, report.changes.add, report.changes.approve) == (4, 1, 0)


def test_a_save_from_a_stale_page_is_refused(context: Context, people: dict[str, Person]) -> None:
    ann = people["Ann"]
    sheet = get_rubrics_sheet(context, ann, "hb")
    sent = build_sent(sheet, keep)
    saved = submit_rubrics_sheet(context, ann, "hb", sent)
    assert submit_rubrics_sheet(context, ann, "hb", sent) == saved  # the same save once more is the same save
    with pytest.raises(StaleError, match="Another tab"):
        submit_rubrics_sheet(context, ann, "hb", replace(sent, uid="0" * 32))
    add_judgments(context)
    with pytest.raises(StaleError, match="have changed"):
        submit_rubrics_sheet(context, ann, "hb", replace(sent, uid="1" * 32, revision=1))
    _, history = list_rubrics_history(context, ann, "hb", sheet.position)
    assert len(history) == 1


def test_a_restored_server_accepts_what_it_lost(context: Context, people: dict[str, Person]) -> None:
    """Ben has no queue, as after a restoration: his save draws one, and names the instance and not its position."""
    sheet = get_rubrics_sheet(context, people["Ann"], "hb")
    sent = build_sent(sheet, keep)
    saved = submit_rubrics_sheet(context, people["Ben"], "hb", sent)
    assert sheet.instance and saved.instance == sheet.instance.id and saved.revision == 1
    assert submit_rubrics_sheet(context, people["Ben"], "hb", sent) == saved


def test_the_opening_time_survives_a_browser_whose_clock_is_ahead(
    context: Context, people: dict[str, Person]
) -> None:
    sheet = get_rubrics_sheet(context, people["Ann"], "hb")
    ahead = time_from_now(timedelta(seconds=2))
    sent = replace(build_sent(sheet, keep), opened_at=ahead, active_ms=700)
    saved = submit_rubrics_sheet(context, people["Ann"], "hb", sent)
    assert saved.opened_at and saved.active_ms is not None
    following = get_rubrics_sheet(context, people["Ann"], "hb")
    early = replace(build_sent(following, keep), opened_at="2020-01-01T00:00:00.000Z")
    # nobody works on two instances at once: the second counts from the end of the first
    assert submit_rubrics_sheet(context, people["Ann"], "hb", early).opened_at >= saved.opened_at


def test_the_arm_decides_who_sees_the_verdicts(context: Context, people: dict[str, Person]) -> None:
    count_criteria(context, people["Olu"], "hb")
    add_judgments(context)
    seen = get_rubrics_sheet(context, people["Ann"], "hb")
    assert seen.arm is Arm.ASSISTED and len(seen.judgments) == 4
    set_design(context, people["Olu"], "hb", Design(blind_share=1.0))
    blind = get_rubrics_sheet(context, people["Ben"], "hb")
    assert blind.arm is Arm.BLIND and not blind.judgments and blind.run is None
    # an instance that was opened keeps its arm
    assert get_rubrics_sheet(context, people["Ann"], "hb", seen.position).arm is Arm.ASSISTED


def test_who_judges_first_sees_the_verdicts_after_that(context: Context, people: dict[str, Person]) -> None:
    count_criteria(context, people["Olu"], "hb")
    add_judgments(context, value=0.0)
    set_design(context, people["Olu"], "hb", Design(first_share=1.0))
    sheet = get_rubrics_sheet(context, people["Ann"], "hb")
    assert sheet.arm is Arm.FIRST and not sheet.judgments
    submit_rubrics_sheet(context, people["Ann"], "hb", build_sent(sheet, keep))
    after = get_rubrics_sheet(context, people["Ann"], "hb", sheet.position)
    assert len(after.judgments) == 4
    submit_rubrics_sheet(context, people["Ann"], "hb", build_sent(after, keep))
    report = get_rubrics_report(context, people["Olu"], "hb")
    assert (report.changes.verdicts_shown, report.changes.verdicts_changed) == (4, 4)


@pytest.mark.parametrize("design", [Design(evidence_share=1.0), Design(reasons_share=1.0)])
def test_arms_that_show_a_part_of_a_draft_show_no_verdict(
    context: Context, people: dict[str, Person], design: Design
) -> None:
    count_criteria(context, people["Olu"], "hb")
    add_judgments(context)
    set_design(context, people["Olu"], "hb", design)
    sheet = get_rubrics_sheet(context, people["Ann"], "hb")
    assert sheet.run is None and not sheet.judgments
    shown = sheet_json(sheet, Aliases.of("s", 1))
    assert {row["drafted"] for row in shown["rows"]} == {None} and "without a draft" in shown["note"]
    assert submit_rubrics_sheet(context, people["Ann"], "hb", build_sent(sheet, keep)).arm == Arm.UNDRAFTED


@pytest.mark.parametrize("design", [Design(), Design(first_share=1.0)])
def test_a_save_without_a_verdict_to_show_is_kept_apart(
    context: Context, people: dict[str, Person], design: Design
) -> None:
    set_design(context, people["Olu"], "hb", design)
    count_criteria(context, people["Olu"], "hb")
    first = get_rubrics_sheet(context, people["Ann"], "hb")
    assert not first.awaits_first
    assert submit_rubrics_sheet(context, people["Ann"], "hb", build_sent(first, keep)).arm == Arm.UNDRAFTED
    add_judgments(context)
    second = get_rubrics_sheet(context, people["Ann"], "hb")
    assert submit_rubrics_sheet(context, people["Ann"], "hb", build_sent(second, keep)).arm == second.arm
    blind = Design(blind_share=1.0)
    set_design(context, people["Olu"], "hb", blind)
    third = get_rubrics_sheet(context, people["Ann"], "hb")
    assert submit_rubrics_sheet(context, people["Ann"], "hb", build_sent(third, keep)).arm == Arm.BLIND


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (SentLine(0, Action.APPROVE), "say whether it is met"),
        (SentLine(0, Action.APPROVE, value=2.0), "say whether it is met"),
        (SentLine(0, Action.APPROVE, value=0.5), "say whether it is met"),
        (SentLine(0, Action.REVISE, "", value=1.0), "has no text"),
        (SentLine(0, Action.REVISE, "x" * 10_001, value=1.0), "longer than"),
        (SentLine(0, Action.REVISE, "Other.", points=float("nan"), value=1.0), "as its points"),
        (SentLine(0, Action.ADD, "Other.", 1.0, value=1.0), "choose an action"),
    ],
)
def test_a_line_that_is_not_decided_is_refused(
    context: Context, people: dict[str, Person], line: SentLine, said: str
) -> None:
    sheet = get_rubrics_sheet(context, people["Ann"], "hb")

    def decide(sheet: Sheet, criterion: Criterion) -> SentLine:
        return replace(line, id=criterion.id) if criterion == sheet.criteria[0] else keep(sheet, criterion)

    with pytest.raises(InputError, match=said):
        submit_rubrics_sheet(context, people["Ann"], "hb", build_sent(sheet, decide))


def test_a_revision_compares_with_the_criterion_as_it_was_brought(
    context: Context, people: dict[str, Person]
) -> None:
    ann = people["Ann"]
    sheet = get_rubrics_sheet(context, ann, "hb")

    def revise(sheet: Sheet, criterion: Criterion) -> SentLine:
        return SentLine(criterion.id, Action.REVISE, criterion.rubric.text, points=9.0, value=1.0)

    submit_rubrics_sheet(context, ann, "hb", build_sent(sheet, revise))
    again = get_rubrics_sheet(context, ann, "hb", sheet.position)

    def as_before(sheet: Sheet, criterion: Criterion) -> SentLine:
        return SentLine(
            criterion.id, Action.REVISE, criterion.rubric.text, criterion.rubric.points, value=1.0
        )

    with pytest.raises(InputError, match="unchanged"):
        submit_rubrics_sheet(context, ann, "hb", build_sent(again, as_before))


def test_what_is_not_there_is_named(context: Context, people: dict[str, Person]) -> None:
    assert get_rubrics_report(context, people["Rae"], "hb").n_instances == 4
    with pytest.raises(NotFoundError):
        get_rubrics_sheet(context, people["Ann"], "hb", 99)
    with pytest.raises(NotFoundError):
        get_rubrics_sheet(context, people["Ann"], "nowhere")


def test_the_work_of_a_person_can_be_put_aside_put_back_and_removed(
    context: Context, people: dict[str, Person]
) -> None:
    ann = people["Ann"]
    sheet = get_rubrics_sheet(context, ann, "hb")
    submit_rubrics_sheet(context, ann, "hb", build_sent(sheet, keep))
    before = get_rubrics_report(context, people["Olu"], "hb").n_labels
    with context.store.write() as db:
        task = tasks.get_task(db, "hb")
        enrolments.record_arrival(db, task.id, ann.id)
        arrival = enrolments.get_newest_arrival(db, task.id, ann.id)
        removal.set_aside(db, ann.id, task.id, None, arrival, "admitted", "2099-01-01T00:00:00.000Z")
    assert get_rubrics_report(context, people["Olu"], "hb").n_labels == 0
    with context.store.write() as db:
        aside = removal.get_aside(db, task.id, ann.id)
        removal.put_back(db, aside)
    assert get_rubrics_report(context, people["Olu"], "hb").n_labels == before == 4
    with context.store.write() as db:
        assert removal.remove_person(db, ann.id)["rubrics_line"] == 4
    assert get_rubrics_report(context, people["Olu"], "hb").n_labels == 0
