"""How a study shows its drafts: arms, what is withheld, what had no draft yet, and what a change touches."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

import pytest

from coeval.domain import Arm, Filter, ImportedRun, Person, RowKind, Study, Submission
from coeval.errors import InputError, StaleError
from coeval.rules.arms import Design, Display
from coeval.rules.evaluation_rows import AddedRow
from coeval.ui.app.step_json import history_json, step_json
from coeval.usecases.access import Context
from coeval.usecases.reports.statistics import get_frames
from coeval.usecases.scrutiny.design import get_design, set_design
from coeval.usecases.scrutiny.review import compare_people
from coeval.usecases.scrutiny.steps import Move, Where, get_ahead, get_step, list_history, submit
from coeval.usecases.sessions import sign_in
from coeval.usecases.study_import import import_study
from coeval.usecases.tasks import show_run
from tests.conftest import make_study
from tests.support.studies.scrutiny_steps import go_on, here, save, sent_of, use_design, walk


@pytest.fixture
def ana(context: Context, owner: Person) -> Person:
    import_study(context, owner, make_study(100))
    return sign_in(context, "Ana")[0]


def texts_of(context: Context) -> Iterator[str]:
    """Every drafted word that must not leave before its time."""
    yield from ("It does.", "The answer” is plain", "no such words")


@pytest.mark.slow
def test_people_are_blind_in_pairs(context: Context, owner: Person, ana: Person) -> None:
    use_design(context, owner, blind_share=0.25)

    def blind(person: Person) -> set[int]:
        steps = (get_step(context, person, "demo", Where(position=n)) for n in range(1, 201))
        return {s.instance.id for s in steps if s.instance and s.assignment and s.assignment.arm is Arm.BLIND}

    ana_blind, ben_blind, cem_blind = blind(ana), blind(sign_in(context, "Ben")[0]), blind(owner)
    assert ana_blind == ben_blind and len(ana_blind) == 50
    # the third starts another pair: half of a fourth in common would be chance alone
    assert len(cem_blind) == 50 and len(cem_blind & ana_blind) < 40


def test_new_shares_touch_only_what_nobody_opened(context: Context, owner: Person, ana: Person) -> None:
    opened = [get_step(context, ana, "demo", Where(position=n)) for n in range(1, 11)]
    assert {step.assignment.arm for step in opened if step.assignment} == {Arm.ASSISTED}
    assert get_design(context, owner, "demo").n_opened == 10
    use_design(context, owner, blind_share=1)
    again = [get_step(context, ana, "demo", Where(position=n)) for n in range(1, 13)]
    found = [step.assignment.arm for step in again if step.assignment]
    assert found == [Arm.ASSISTED] * 10 + [Arm.BLIND] * 2


def test_a_design_is_kept_with_who_set_it(context: Context, owner: Person, ana: Person) -> None:
    wanted = Design(0.1, 0.2, 0.3, 90, Display.MARKDOWN, False)
    assert get_design(context, owner, "demo").changed_by == ""
    hidden = step_json(get_step(context, ana, "demo"))["instance"]
    assert hidden["system"] is None and not hidden["name"]
    set_design(context, owner, "demo", wanted)
    state = get_design(context, owner, "demo")
    assert (state.design, state.changed_by) == (wanted, "Olu")
    shown = step_json(get_step(context, ana, "demo"))
    assert (shown["task"]["display"], shown["task"]["idle_seconds"]) == ("markdown", 90)
    assert shown["instance"]["system"] in ("a", "b")


def test_a_design_that_cannot_be_is_not_stored(context: Context, owner: Person, ana: Person) -> None:
    with pytest.raises(InputError, match="blind share is 150%"):
        use_design(context, owner, blind_share=1.5)
    assert get_design(context, owner, "demo").design == Design()


def test_blind_shows_nothing_of_the_draft_before_or_after(
    context: Context, owner: Person, ana: Person
) -> None:
    use_design(context, owner, blind_share=1)
    step = get_step(context, ana, "demo")
    saved = save(context, ana, step, 2)
    back = get_step(context, ana, "demo", here(step))
    for shown in (step_json(step), step_json(back)):
        said = json.dumps(shown, ensure_ascii=False)
        assert not [text for text in texts_of(context) if text in said]
        assert shown["evaluation"]["draft"] is None and shown["evaluation"]["draft_score"] is None
    assert (saved.shown_score, saved.draft is not None) == (None, True)


def test_judge_first_keeps_both_scores_and_shows_the_draft_between(
    context: Context, owner: Person, ana: Person
) -> None:
    use_design(context, owner, first_share=1)
    step = get_step(context, ana, "demo")
    before = step_json(step)
    assert step.awaits_first and before["evaluation"]["asks_first"]
    assert not [text for text in texts_of(context) if text in json.dumps(before, ensure_ascii=False)]
    first = save(context, ana, step, 2)
    assert (first.revision, first.score, first.rows) == (0, 2, ())
    assert here(get_step(context, ana, "demo")) == here(step)  # the evaluation is still to be finished

    then = get_step(context, ana, "demo", here(step))
    shown = step_json(then)["evaluation"]
    assert (shown["first_score"], shown["score"], shown["draft_score"]) == (2, 2, 4)
    score = next(row for row in shown["rows"] if row["kind"] == "score")
    assert score["action"] == "revise"  # their own score stands until they change it
    final = save(context, ana, then, 3)
    assert (final.arm, final.score, final.shown_score, final.revision) == (Arm.FIRST, 3, 4, 1)
    history = history_json(list_history(context, ana, "demo", final.instance, final.criterion))
    assert [(one["revision"], one["score"], one["first"]) for one in history] == [(0, 2, True), (1, 3, False)]
    scores = get_frames(context, owner, "demo").scores
    row = scores[["arm", "score", "first_score", "shown_score", "draft_score"]].iloc[0]
    assert list(row) == ["first", 3, 2, 4, 4]


def test_the_first_score_is_given_once(context: Context, owner: Person, ana: Person) -> None:
    use_design(context, owner, first_share=1)
    step = get_step(context, ana, "demo")
    sent = sent_of(step, 2, uid="uid-00000001")
    assert submit(context, ana, "demo", sent).id == submit(context, ana, "demo", sent).id
    with pytest.raises(StaleError, match="Another tab"):
        submit(context, ana, "demo", sent_of(step, 5))
    then = get_step(context, ana, "demo", here(step))
    assert then.first and then.first.score == 2
    with pytest.raises(InputError, match="key of another"):
        submit(context, ana, "demo", replace(sent, criterion=step.criteria[1].id))


def test_the_draft_cannot_be_had_before_the_first_score(context: Context, owner: Person, ana: Person) -> None:
    """Not by skipping the score, nor by naming the draft, nor by a score that is refused."""
    drafted = get_step(context, owner, "demo")
    use_design(context, owner, first_share=1)
    step = get_step(context, ana, "demo", here(drafted))
    final = sent_of(drafted, 4)
    for tried in (final, replace(final, first=True), replace(final, draft=None)):
        with pytest.raises((StaleError, InputError)):
            submit(context, ana, "demo", tried)
    with pytest.raises(InputError, match="not on the scale"):
        submit(context, ana, "demo", sent_of(step, 9))
    with pytest.raises(InputError, match="give only the score"):
        added = (AddedRow(RowKind.EVIDENCE, "mine"),)
        submit(context, ana, "demo", replace(sent_of(step, 3), added=added))
    assert list_history(context, ana, "demo", final.instance, final.criterion) == []
    assert get_step(context, ana, "demo", here(step)).draft is None


def test_judge_first_without_a_draft_is_one_step(context: Context, owner: Person) -> None:
    study = make_study(1)
    import_study(context, owner, replace(study, runs=()))
    use_design(context, owner, first_share=1)
    ana = sign_in(context, "Ana")[0]
    step = get_step(context, ana, "demo")
    assert not step.awaits_first
    saved = save(context, ana, step, 4)
    assert (saved.arm, saved.revision, saved.draft) == (Arm.FIRST, 1, None)


def test_to_look_ahead_at_what_is_opened_or_reserved_writes_nothing(
    context: Context, owner: Person, ana: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every person does so at every step, and the database takes one write at a time."""
    step = get_step(context, ana, "demo", Where(which=Filter.ALL))
    while step.criterion != step.criteria[-1]:
        step = go_on(context, ana, step)
    onward = replace(here(step), which=Filter.ALL, move=Move.NEXT)
    [reserved] = get_ahead(context, ana, "demo", onward, sheet=False)
    monkeypatch.setattr(type(context.store), "write", lambda store: pytest.fail("a write transaction"))
    assert get_ahead(context, ana, "demo", onward, sheet=False) == (reserved,)


@pytest.fixture
def half_drafted(context: Context, owner: Person, study: Study) -> Person:
    """A study of which only the second criterion is drafted, and Ana, who judged the first instance by both."""
    drafts = tuple(one for one in study.runs[0].drafts if one.criterion == study.criteria[1].text)
    import_study(context, owner, replace(study, runs=(ImportedRun(study.runs[0].run, drafts),)))
    ana = sign_in(context, "Ana")[0]
    for step in islice(walk(context, ana), len(study.criteria)):
        save(context, ana, step, 2)
    return ana


def test_once_there_is_a_draft_a_further_save_is_assisted(
    context: Context, owner: Person, half_drafted: Person, study: Study
) -> None:
    step = next(walk(context, half_drafted))
    name = step.instance.external_id
    assert [one.outcome for one in latest(context, owner, name)] == [Arm.UNDRAFTED]
    whole = ImportedRun(replace(study.runs[0].run, label="whole", shown=False), study.runs[0].drafts)
    import_study(context, owner, replace(study, runs=(whole,)))
    show_run(context, owner, "demo", "whole")
    save(context, half_drafted, next(walk(context, half_drafted)), 3)
    assert [one.outcome for one in latest(context, owner, name)] == [Arm.ASSISTED]


def latest(context: Context, owner: Person, instance: str) -> list[Submission]:
    """What everybody saved last of an instance by the first criterion."""
    return [column.latest for column in compare_people(context, owner, "demo", instance, 1).columns]
