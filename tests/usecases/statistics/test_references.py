"""Reference scores of a study: decisions of its owners, and columns of scores that a file brought."""

from __future__ import annotations

from coeval.domain import (
    Criterion,
    Instance,
    Person,
    Study,
    Task,
)
from coeval.store.queries.criteria import get_criteria_set
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.reports.statistics import get_frames
from coeval.usecases.scrutiny.review import adjudicate
from coeval.usecases.study_import import import_study

CRITERIA = ("Use simple words.", "Be true.")


def test_adjudicated_and_given_reference_scores_are_read(context: Context, owner: Person) -> None:
    """An owner's newest decision counts; a column of scores counts where its numbers are on the scale."""
    columns = {"reference score: be true.": "4"}, {"reference score: Be true.": "9"}, {"Reference score": "5"}
    instances = tuple(
        Instance(f"q{n}", f"Why {n}?", f"Because of {n}.", context=context_of)
        for n, context_of in enumerate((*columns, {}))
    )
    import_study(context, OPERATOR, Study(Task("held", "A task"), instances, tuple(map(Criterion, CRITERIA))))
    with context.store.read() as db:
        by = {one.text: one.id for one in get_criteria_set(db, 1).criteria}  # type: ignore[union-attr]
    adjudicate(context, owner, "held", "q3", by["Be true."], score=2)
    adjudicate(context, owner, "held", "q3", by["Be true."], score=3, revision=1)
    found = get_frames(context, OPERATOR, "held").references
    assert found[["instance", "criterion", "score"]].to_numpy().tolist() == [
        ["q3", "Be true.", 3.0],
        ["q0", "Be true.", 4.0],
    ]
    assert found["source"].tolist() == ["adjudicated scores", "a column of reference scores"]
    adjudicate(context, owner, "held", "q3", by["Be true."], score=5, revision=2)
    assert get_frames(context, OPERATOR, "held").references["score"].tolist() == [5.0, 4.0]
