"""What owners look back on: changes, people side by side, decisions, habits; and that others cannot."""

from __future__ import annotations

import pytest

from coeval.domain import Person, Study
from coeval.errors import InputError, NotFoundError, StaleError
from coeval.usecases.access import Context
from coeval.usecases.reports.statistics import get_frames
from coeval.usecases.scrutiny.review import (
    adjudicate,
    compare_people,
    list_disputes,
)
from coeval.usecases.scrutiny.steps import Step, get_step
from coeval.usecases.sessions import sign_in
from coeval.usecases.study_import import import_study
from tests.support.studies.scrutiny_steps import here, save
from tests.usecases.exported import read_export


@pytest.fixture
def people(context: Context, owner: Person, study: Study) -> list[Person]:
    import_study(context, owner, study)
    return [sign_in(context, name)[0] for name in ("Ana", "Ben", "Cy")]


@pytest.fixture
def step(context: Context, people: list[Person]) -> Step:
    """The same evaluation by three people, with 2, 4 and 5; Ana changed hers from 1."""
    first = get_step(context, people[0], "demo")
    save(context, people[0], first, 1)
    for person, score in zip(people, (2, 4, 5), strict=True):
        save(context, person, get_step(context, person, "demo", here(first)), score)
    return first


def test_people_side_by_side(context: Context, owner: Person, people: list[Person], step: Step) -> None:
    found = compare_people(context, owner, "demo", step.instance.external_id, step.criterion.id)
    assert [(one.person, one.latest.score, len(one.revisions)) for one in found.columns] == [
        ("Ana", 2, 2),
        ("Ben", 4, 1),
        ("Cy", 5, 1),
    ]
    assert found.draft == step.draft and all(column.shown == step.draft for column in found.columns)
    with pytest.raises(NotFoundError, match="no instance “zz”"):
        compare_people(context, owner, "demo", "zz", step.criterion.id)
    with pytest.raises(NotFoundError, match="criterion"):
        compare_people(context, owner, "demo", step.instance.external_id, 999)


def test_a_decision_stands_apart(context: Context, owner: Person, people: list[Person], step: Step) -> None:
    key = ("demo", step.instance.external_id, step.criterion.id)
    before = get_frames(context, owner, "demo").scores
    first = adjudicate(context, owner, *key, score=3, note=" in between ")
    assert (first.score, first.note, first.decided_by, first.revision) == (3, "in between", "Olu", 1)
    adjudicate(context, owner, *key, score=4, revision=1)
    with pytest.raises(StaleError, match="meanwhile"):
        adjudicate(context, owner, *key, score=1, revision=1)
    with pytest.raises(InputError, match="not on the scale"):
        adjudicate(context, owner, *key, score=2.5, revision=2)
    decided = compare_people(context, owner, *key).decided
    assert decided and (decided.score, decided.revision) == (4, 2)
    assert list_disputes(context, owner, "demo")[0].decided == 4
    assert get_frames(context, owner, "demo").scores.equals(before)
    rows = read_export(context, owner, "adjudicated.csv")
    assert [(row["score"], row["latest"], row["decided_by"]) for row in rows] == [
        ("3.0", "0", "Olu"),
        ("4.0", "1", "Olu"),
    ]
    assert "Olu" not in str(read_export(context, owner, "scores.csv"))


def test_every_revision_is_exported_with_its_lines(
    context: Context, owner: Person, people: list[Person], step: Step
) -> None:
    replaced, counted = [("Ana", "1", "0")], [("Ana", "2", "1"), ("Ben", "1", "1"), ("Cy", "1", "1")]
    of_rows = len(step.draft.rows if step.draft else ())
    for name, expected, lines in (
        ("scores.csv", counted, 1),
        ("history.csv", replaced, 1),
        ("rows.csv", replaced + counted, of_rows),
    ):
        rows = read_export(context, owner, name)
        found = [(row["annotator"], row["revision"], row["latest"]) for row in rows]
        assert found == [one for one in expected for _ in range(lines)], name
