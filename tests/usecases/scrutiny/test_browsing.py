"""Looking through the instances of a task: every filter against what was made by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from coeval.domain import ImportedRun, Instance, Only, Person, Study
from coeval.errors import NotFoundError
from coeval.usecases.access import Context
from coeval.usecases.scrutiny.review import list_instances, list_systems, view_instance
from coeval.usecases.scrutiny.steps import Where, get_step, mark_instance
from coeval.usecases.sessions import sign_in
from coeval.usecases.study_import import import_file, import_study
from tests.support.studies.scrutiny_steps import save


@pytest.fixture
def looked_through(context: Context, owner: Person, study: Study) -> Context:
    """1a: a draft unscored; 1b: Ana 2, Ben 5; 2a: flagged and commented on by Ana; 2b: as it was imported."""
    run = study.runs[0]
    unscored = replace(run.drafts[0], score=None, rows=(), reason="no rating", raw="I cannot say.")
    odd = Instance("100%_!", "Percent?", "A sign.", "d9", "a")
    import_study(
        context, owner, replace(study, instances=(*study.instances, odd),
                                runs=(ImportedRun(run.run, (unscored, *run.drafts[1:])),)),
    )  # fmt: skip
    ids = {one.external_id: place for place, one in enumerate(study.instances, 1)}
    assert list(ids) == ["1a", "1b", "2a", "2b"]
    for name, score in (("Ana", 2), ("Ben", 5)):
        person = sign_in(context, name)[0]
        save(context, person, step_of(context, person, "1b"), score)
    ana = sign_in(context, "Ana")[0]
    instance = step_of(context, ana, "2a").instance
    mark_instance(context, ana, "demo", instance.id, flagged=True, comment="Is this one complete?")
    return context


def step_of(context: Context, person: Person, external_id: str):  # type: ignore[no-untyped-def]
    """The first step of a person at an instance."""
    total = get_step(context, person, "demo").total
    steps = (get_step(context, person, "demo", Where(position=place)) for place in range(1, total + 1))
    return next(step for step in steps if step.instance.external_id == external_id)


@pytest.mark.parametrize(
    ("options", "listed"),
    [
        ({}, ["1a", "1b", "2a", "2b", "100%_!"]),
        ({"system": "b"}, ["1b", "2b"]),
        ({"only": Only.UNSCORED}, ["1a"]),
        ({"only": Only.FLAGGED}, ["2a"]),
        ({"only": Only.DIFFERING}, ["1b"]),
        ({"only": Only.UNTOUCHED}, ["1a", "2a", "2b", "100%_!"]),
        ({"only": Only.UNTOUCHED, "system": "b"}, ["2b"]),
        ({"search": "answer 2"}, ["2a", "2b"]),
        ({"search": " QUESTION 1 "}, ["1a", "1b"]),
        # signs that SQL gives a meaning are signs
        ({"search": "%"}, ["100%_!"]),
        ({"search": "_!"}, ["100%_!"]),
        ({"search": "'; DROP TABLE instance; --"}, []),
    ],
)
def test_filters(looked_through: Context, owner: Person, options: dict[str, str], listed: list[str]) -> None:
    states = list_instances(looked_through, owner, "demo", **options)  # type: ignore[arg-type]
    assert [state.external_id for state in states] == listed


def test_what_a_line_says(looked_through: Context, owner: Person) -> None:
    told = {
        state.external_id: (state.n_drafts, state.n_unscored, state.n_people, state.apart, state.n_flagged,
                            state.n_comments)
        for state in list_instances(looked_through, owner, "demo")
    }  # fmt: skip
    assert told == {
        "1a": (1, 1, 0, None, 0, 0),
        "1b": (2, 0, 2, 3.0, 0, 0),
        "2a": (2, 0, 0, None, 1, 1),
        "2b": (2, 0, 0, None, 0, 0),
        "100%_!": (0, 0, 0, None, 0, 0),
    }
    assert list_systems(looked_through, owner, "demo") == ["a", "b"]


def test_a_document_without_a_column_has_no_name(context: Context, owner: Person, tmp_path: Path) -> None:
    given = tmp_path / "given.csv"
    for column in ("document", "page"):
        given.write_text(f"input,output,{column}\nWhy?,Because.,seven\n", encoding="utf-8")
        import_file(context, owner, given, column)
    named = [list_instances(context, owner, column)[0].document for column in ("document", "page")]
    assert named == ["seven", ""]


def test_everything_of_one_instance(looked_through: Context, owner: Person) -> None:
    first = view_instance(looked_through, owner, "demo", "1a").judged[0]
    assert first.draft and (first.draft.score, first.draft.reason, first.draft.raw) == (
        None,
        "no rating",
        "I cannot say.",
    )
    scores = [
        {name: submission.score for name, submission in judged.latest}
        for judged in view_instance(looked_through, owner, "demo", "1b").judged
    ]
    assert scores == [{"Ana": 2, "Ben": 5}, {}]
    (remark,) = view_instance(looked_through, owner, "demo", "2a").remarks
    assert (remark.person, remark.flagged, remark.comment) == ("Ana", True, "Is this one complete?")
    with pytest.raises(NotFoundError, match="has no instance “3c”"):
        view_instance(looked_through, owner, "demo", "3c")
