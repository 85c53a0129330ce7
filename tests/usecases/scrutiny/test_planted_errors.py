"""Planted errors through the study: stable, told to nobody, compared with what was shown, caught or not."""

from __future__ import annotations

import csv
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from coeval.domain import Action, Arm, Draft, Person, Plan, RowKind
from coeval.rules.arms import Design
from coeval.rules.planted_errors import ErrorKind, PlantedError
from coeval.store.queries import drafts, planted_errors, reservations
from coeval.usecases.access import Context
from coeval.usecases.export import export_folder
from coeval.usecases.reports.statistics import get_frames
from coeval.usecases.scrutiny.review import compare_people, list_habits
from coeval.usecases.scrutiny.steps import Move, Step, get_ahead, get_step
from coeval.usecases.sessions import sign_in
from coeval.usecases.study_import import import_study
from tests.conftest import make_study
from tests.support.studies.planted_study import admit, make_planted_study, open_planted_study
from tests.support.studies.scrutiny_steps import go_on, here, save, use_design, walk


@pytest.fixture
def ana(context: Context) -> Person:
    """Somebody of a crowd who does 30 of 80 instances; every assisted draft that can be planted is."""
    design = Design(planted_share=1)
    open_planted_study(context, 80, 0, design, Plan(per_instance=9, batch=30, quota=30))
    return admit(context, "Ana")[0]


def planted_in(context: Context, person: Person, step: Step) -> PlantedError | None:
    assert step.instance and step.criterion
    with context.store.read() as db:
        return planted_errors.get_planted_error(db, person.id, step.instance.id, step.criterion.id)


def by_kind(context: Context, person: Person, kind: ErrorKind) -> Step:
    return next(step for step in walk(context, person) if is_of(kind, planted_in(context, person, step)))


def is_of(kind: ErrorKind, planted: PlantedError | None) -> bool:
    return planted is not None and planted.kind is kind


def draft_of(context: Context, step: Step) -> Draft:
    """What the model said itself."""
    assert step.draft
    with context.store.read() as db:
        draft = drafts.get_draft(db, step.draft.id)
    assert draft
    return draft


def test_both_kinds_are_shown_and_stay(context: Context, ana: Person) -> None:
    steps = list(walk(context, ana))
    planted = [planted_in(context, ana, step) for step in steps]
    n = Counter(one.kind if one else None for one in planted)
    # 60 drafts: 30 drawn for a wrong score, of which about two thirds are exchanged and the others get a wrong line
    assert 10 < n[ErrorKind.SCORE] < 35 and n[ErrorKind.EVIDENCE] > 20
    for step, one in zip(steps, planted, strict=True):
        own = draft_of(context, step)
        assert step.draft is not None and step.draft.score is not None and own.score is not None
        assert (abs(step.draft.score - own.score) == 1) == is_of(ErrorKind.SCORE, one)
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
    assert planted > 30


def test_a_line_is_never_from_what_the_person_has_or_will_have(context: Context, ana: Person) -> None:
    seen = {step.instance.id for step in walk(context, ana) if step.instance}
    with context.store.read() as db:
        sources = {row[0] for row in db.conn.execute(planted_errors.SOURCES, {"annotator": ana.id})}
        free = {instance for _, instance in reservations.list_free(db, ana.id, 1, 9)}
    assert len(sources) > 15 and not sources & seen and not sources & free


def test_where_everybody_sees_everything_only_scores_are_wrong(context: Context, owner: Person) -> None:
    import_study(context, owner, make_planted_study(20))
    use_design(context, owner, planted_share=1)
    kinds = {one.kind for step in walk(context, owner) if (one := planted_in(context, owner, step))}
    assert kinds == {ErrorKind.SCORE}


def test_actions_compare_with_what_was_shown(context: Context, ana: Person) -> None:
    step = by_kind(context, ana, ErrorKind.SCORE)
    assert step.draft and step.draft.score is not None
    kept = save(context, ana, step, step.draft.score)
    score = next(row for row in kept.rows if row.kind is RowKind.SCORE)
    assert (score.action, kept.planted, kept.shown_score) == (Action.APPROVE, "score", step.draft.score)
    back = get_step(context, ana, "demo", here(step))
    assert back.draft == step.draft
    own = draft_of(context, step).score
    assert own is not None
    restored = save(context, ana, back, own)  # the draft's own score is a change to what was shown
    score = next(row for row in restored.rows if row.kind is RowKind.SCORE)
    assert (score.action, score.text) == (Action.REVISE, f"{own:g}")


def test_catches_are_counted(context: Context, owner: Person, ana: Person) -> None:
    """Scores: the first is caught, the second is not. Evidence: the first is deleted, the second kept."""
    seen = {kind: 0 for kind in ErrorKind}
    for step in walk(context, ana):
        planted = planted_in(context, ana, step)
        if planted is None or seen[planted.kind] == 2:
            continue
        kind = planted.kind
        seen[kind] += 1
        assert step.draft and step.draft.score is not None
        caught = seen[kind] == 1
        wrong = planted.draft_row if kind is ErrorKind.EVIDENCE else None
        own = draft_of(context, step).score
        moved = own if caught and kind is ErrorKind.SCORE and own is not None else step.draft.score
        save(context, ana, step, moved, deleted=[wrong] if wrong and caught else [])
    (habits,) = list_habits(context, owner, "demo")
    assert (habits.n, habits.n_planted, habits.caught) == (4, 4, 0.5)
    frames = get_frames(context, owner, "demo")
    assert sorted(frames.scores["planted_error"]) == ["evidence", "evidence", "score", "score"]
    assert int(frames.scores["planted_score"].sum()) == 2
    assert frames.actions.empty  # nothing was done here to a draft as the model made it


def test_owners_see_what_was_sown_side_by_side(context: Context, owner: Person, ana: Person) -> None:
    step = by_kind(context, ana, ErrorKind.EVIDENCE)
    assert step.instance and step.criterion
    assert step.draft and step.draft.score is not None
    save(context, ana, step, step.draft.score)
    found = compare_people(context, owner, "demo", step.instance.external_id, step.criterion.id)
    (column,) = found.columns
    assert column.planted and column.planted.kind is ErrorKind.EVIDENCE
    assert column.shown == step.draft != found.draft


def test_exports_say_what_was_shown(context: Context, owner: Person, ana: Person, tmp_path: Path) -> None:
    step = by_kind(context, ana, ErrorKind.SCORE)
    assert step.draft and step.draft.score is not None
    save(context, ana, step, step.draft.score)
    other = by_kind(context, ana, ErrorKind.EVIDENCE)
    assert other.draft and other.draft.score is not None
    save(context, ana, other, other.draft.score)
    export_folder(context, owner, "demo", tmp_path)
    first, second = _rows(tmp_path / "scores.csv")
    assert (first["planted_error"], first["draft_score"], first["shown_score"]) == (
        "score",
        str(draft_of(context, step).score),
        str(step.draft.score),
    )
    assert (second["planted_error"], second["shown_score"]) == ("evidence", str(other.draft.score))
    lines = [row for row in _rows(tmp_path / "rows.csv") if row["planted_error"]]
    assert [row["kind"] for row in lines] == ["score", "evidence"]
    assert lines[0]["planted_error"] == f"{step.draft.score:g}"
    assert lines[1]["planted_error"] in [row.text for row in other.draft.rows]
    assert lines[1]["planted_error"] != lines[1]["drafted"]


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_only_assisted_drafts_are_sown(context: Context, owner: Person) -> None:
    import_study(context, owner, make_study(20))
    use_design(context, owner, planted_share=1, blind_share=0.5, first_share=0.5)
    ben = sign_in(context, "Ben")[0]
    arms = {step.assignment.arm for step in walk(context, ben) if step.assignment}
    assert arms == {Arm.BLIND, Arm.FIRST}
    with context.store.read() as db:
        assert db.conn.execute("SELECT count(*) FROM planted_error").fetchone() == (0,)
