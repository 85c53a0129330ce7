"""Planted errors through the study: stable, told to nobody, compared with what was shown, caught or not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from coeval.domain import Action, Arm, Draft, Person, Plan, RowKind
from coeval.rules.arms import Design
from coeval.rules.planted_errors import PlantedError
from coeval.store.queries import drafts, planted_errors
from coeval.usecases.access import Context
from coeval.usecases.reports.statistics import get_frames
from coeval.usecases.scrutiny.review import compare_people, list_habits
from coeval.usecases.scrutiny.steps import Move, Step, get_ahead, get_step
from coeval.usecases.sessions import sign_in
from coeval.usecases.study_import import import_study
from tests.conftest import make_study
from tests.support.studies.planted_study import admit, open_planted_study
from tests.support.studies.scrutiny_steps import go_on, here, save, use_design, walk


@pytest.fixture
def ana(context: Context) -> Person:
    """Somebody of a crowd who does 30 of 80 instances; every assisted draft that can be planted is."""
    design = Design(planted_share=1)
    open_planted_study(context, 80, 0, design, Plan(per_instance=9, batch=30, quota=30))
    return admit(context, "Ana")[0]


def planted_in(context: Context, person: Person, step: Step) -> PlantedError | None:
    with context.store.read() as db:
        return planted_errors.get_planted_error(db, person.id, step.instance.id, step.criterion.id)


def find_planted(context: Context, person: Person) -> Step:
    return next(step for step in walk(context, person) if planted_in(context, person, step))


def draft_of(context: Context, step: Step) -> Draft:
    """What the model said itself."""
    with context.store.read() as db:
        draft = drafts.get_draft(db, step.draft.id)
    return draft


def test_wrong_scores_are_shown_and_stay(context: Context, ana: Person) -> None:
    steps = list(walk(context, ana))
    planted = [planted_in(context, ana, step) for step in steps]
    # 60 drafts are drawn for a wrong score, and about two thirds are exchanged
    assert 25 < sum(error is not None for error in planted) < 55
    for step, error in zip(steps, planted, strict=True):
        own = draft_of(context, step)
        assert (abs(step.draft.score - own.score) == 1) == (error is not None)
    assert [step.draft for step in walk(context, ana)] == [step.draft for step in steps]


def test_what_is_fetched_ahead_is_planted_when_it_is_shown(context: Context, ana: Person) -> None:
    """The draft is the one that the opening shows, but nothing is planted yet."""
    step, planted = get_step(context, ana, "demo"), 0
    while step.instance:
        [ahead] = get_ahead(context, ana, "demo", replace(here(step), move=Move.NEXT), sheet=False) or [None]
        if ahead is not None and ahead.instance != step.instance:
            assert planted_in(context, ana, ahead) is None
        save(context, ana, step, 3)
        step = go_on(context, ana, step)
        assert ahead is None or (ahead.instance, ahead.draft) == (step.instance, step.draft)
        planted += ahead is not None and planted_in(context, ana, ahead) is not None
    assert planted > 15


def test_actions_compare_with_what_was_shown(context: Context, ana: Person) -> None:
    step = find_planted(context, ana)
    kept = save(context, ana, step, step.draft.score)
    score = next(row for row in kept.rows if row.kind is RowKind.SCORE)
    assert (score.action, kept.planted, kept.shown_score) == (Action.APPROVE, "score", step.draft.score)
    back = get_step(context, ana, "demo", here(step))
    assert back.draft == step.draft
    own = draft_of(context, step).score
    restored = save(context, ana, back, own)  # the draft's own score is a change to what was shown
    score = next(row for row in restored.rows if row.kind is RowKind.SCORE)
    assert (score.action, score.text) == (Action.REVISE, f"{own:g}")


def test_catches_are_counted(context: Context, owner: Person, ana: Person) -> None:
    """Of four planted scores, two are caught."""
    n = 0
    for step in walk(context, ana):
        if planted_in(context, ana, step) is None or n == 4:
            continue
        n += 1
        own = draft_of(context, step).score
        save(context, ana, step, own if n <= 2 and own is not None else step.draft.score)
    (habits,) = list_habits(context, owner, "demo")
    assert (habits.n, habits.n_planted, habits.caught) == (4, 4, 0.5)
    frames = get_frames(context, owner, "demo")
    assert list(frames.scores["planted_error"]) == ["score"] * 4
    assert int(frames.scores["planted_score"].sum()) == 4
    assert frames.actions.empty  # nothing was done here to a draft as the model made it


def test_owners_see_what_was_planted_side_by_side(context: Context, owner: Person, ana: Person) -> None:
    step = find_planted(context, ana)
    save(context, ana, step, step.draft.score)
    compared = compare_people(context, owner, "demo", step.instance.external_id, step.criterion.id)
    (column,) = compared.columns
    assert column.shown == step.draft != compared.draft


def test_only_assisted_drafts_are_sown(context: Context, owner: Person) -> None:
    import_study(context, owner, make_study(20))
    use_design(context, owner, planted_share=1, blind_share=0.5, first_share=0.5)
    ben = sign_in(context, "Ben")[0]
    arms = {step.assignment.arm for step in walk(context, ben) if step.assignment}
    assert arms == {Arm.BLIND, Arm.FIRST}
    with context.store.read() as db:
        assert db.conn.execute("SELECT count(*) FROM planted_error").fetchone() == (0,)
