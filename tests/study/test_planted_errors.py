"""Planted errors through the study: stable, told to nobody, compared with what was shown, caught or not."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from coeval.domain import Action, Arm, Person, RowKind
from coeval.rules.planted_errors import ErrorKind
from coeval.store.queries.scrutiny import planted_errors
from coeval.study.access import Context
from coeval.study.exporting.export import export_folder
from coeval.study.importing.importing import import_study
from coeval.study.people.sessions import sign_in
from coeval.study.scrutiny.review import compare_people, list_habits
from coeval.study.scrutiny.steps import Step, get_step
from coeval.study.statistics import get_frames
from coeval.ui.study_app.scrutiny.step_json import step_json
from tests.conftest import make_study
from tests.support.scrutiny_steps import here, save, use_design, walk


@pytest.fixture
def ana(context: Context, owner: Person) -> Person:
    """An annotator, every one of whose 40 x 2 drafts is planted."""
    import_study(context, owner, make_study(20))
    use_design(context, owner, planted_share=1)
    return sign_in(context, "Ana")[0]


def kind_of(context: Context, person: Person, step: Step) -> ErrorKind:
    assert step.instance and step.criterion
    with context.store.read() as db:
        planted = planted_errors.get_planted_error(db, person.id, step.instance.id, step.criterion.id)
    assert planted is not None
    return planted.kind


def by_kind(context: Context, person: Person, kind: ErrorKind) -> Step:
    return next(step for step in walk(context, person) if kind_of(context, person, step) is kind)


def test_both_kinds_are_shown_and_stay(context: Context, ana: Person) -> None:
    steps = list(walk(context, ana))
    kinds = [kind_of(context, ana, step) for step in steps]
    # 80 draws of one half: 40 expected, standard deviation 4.5
    assert 15 < kinds.count(ErrorKind.SCORE) < 65
    for step, kind in zip(steps, kinds, strict=True):
        assert step.draft is not None
        # the drafts all say 4
        assert (step.draft.score in (3, 5)) == (kind is ErrorKind.SCORE)
    assert [step.draft for step in walk(context, ana)] == [step.draft for step in steps]


def test_a_sown_step_looks_like_any_other_to_the_browser(
    context: Context, owner: Person, ana: Person
) -> None:
    planted = [step_json(by_kind(context, ana, kind)) for kind in ErrorKind]
    use_design(context, owner)  # from here on nothing is planted: the owner's own queue is plain
    plain = step_json(get_step(context, owner, "demo"))

    def shape(value: object) -> object:
        if isinstance(value, dict):
            # how many quotes a line has is the line's own
            return {key: [] if key == "quotes" else shape(one) for key, one in value.items()}
        return [shape(one) for one in value] if isinstance(value, list) else type(value).__name__

    for one in planted:
        assert shape(one) == shape(plain)
        assert "planted" not in json.dumps(one)


def test_actions_compare_with_what_was_shown(context: Context, ana: Person) -> None:
    step = by_kind(context, ana, ErrorKind.SCORE)
    assert step.draft and step.draft.score is not None
    kept = save(context, ana, step, step.draft.score)
    score = next(row for row in kept.rows if row.kind is RowKind.SCORE)
    assert (score.action, kept.planted, kept.shown_score) == (Action.APPROVE, "score", step.draft.score)
    back = get_step(context, ana, "demo", here(step))
    assert back.draft == step.draft
    restored = save(context, ana, back, 4)  # the draft's own score is a change to what was shown
    score = next(row for row in restored.rows if row.kind is RowKind.SCORE)
    assert (score.action, score.text) == (Action.REVISE, "4")


def test_catches_are_counted(context: Context, owner: Person, ana: Person) -> None:
    """Scores: the first is caught, the second is not. Evidence: the first is deleted, the second kept."""
    seen = {kind: 0 for kind in ErrorKind}
    for step in walk(context, ana):
        kind = kind_of(context, ana, step)
        seen[kind] += 1
        if seen[kind] > 2:
            continue
        assert step.instance and step.criterion and step.draft and step.draft.score is not None
        with context.store.read() as db:
            planted = planted_errors.get_planted_error(db, ana.id, step.instance.id, step.criterion.id)
        caught = seen[kind] == 1
        wrong = planted.draft_row if planted and kind is ErrorKind.EVIDENCE else None
        moved = 2 if caught and kind is ErrorKind.SCORE else step.draft.score
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
    save(context, ana, step, 4)
    found = compare_people(context, owner, "demo", step.instance.external_id, step.criterion.id)
    (column,) = found.columns
    assert column.planted and column.planted.kind is ErrorKind.EVIDENCE
    assert column.shown == step.draft != found.draft


def test_exports_say_what_was_shown(context: Context, owner: Person, ana: Person, tmp_path: Path) -> None:
    step = by_kind(context, ana, ErrorKind.SCORE)
    assert step.draft and step.draft.score is not None
    save(context, ana, step, step.draft.score)
    other = by_kind(context, ana, ErrorKind.EVIDENCE)
    save(context, ana, other, 4)
    export_folder(context, owner, "demo", tmp_path)
    first, second = _rows(tmp_path / "scores.csv")
    assert (first["planted_error"], first["draft_score"], first["shown_score"]) == (
        "score",
        "4.0",
        str(step.draft.score),
    )
    assert (second["planted_error"], second["shown_score"]) == ("evidence", "4.0")
    lines = [row for row in _rows(tmp_path / "rows.csv") if row["planted_error"]]
    assert [(row["kind"], row["drafted"]) for row in lines][0] == ("score", "4")
    assert lines[0]["planted_error"] == f"{step.draft.score:g}"
    assert (
        len(lines) == 2
        and lines[1]["kind"] == "evidence"
        and lines[1]["planted_error"] != lines[1]["drafted"]
    )


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
