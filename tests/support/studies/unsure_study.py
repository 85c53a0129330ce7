"""A study whose judge says by log-probabilities where it is unsure, and is right about that."""

from __future__ import annotations

import random

from coeval.domain import (
    Arm,
    Criterion,
    ImportedDraft,
    ImportedRun,
    ImportedSubmission,
    Instance,
    Run,
    Study,
    Task,
)
from coeval.extensions.judge.learning.learn import Wishes

TRUE, BRIEF = "Be true.", "Be brief."
SURE, UNSURE = (0.01, 0.01, 0.96, 0.01, 0.01), (0.2, 0.2, 0.2, 0.2, 0.2)
THRESHOLD = Wishes(jury=False, calibration=False)
SCORED = 40


def make_unsure_study(documents: int = 60, seed: int = 3) -> Study:
    """A judge that always says 3. Where it is sure people say so too, else anything; the last 20 nobody has scored."""
    draw = random.Random(seed)
    instances = tuple(Instance(f"i{n}", f"Question {n}?", f"Answer {n}.", f"d{n}") for n in range(documents))
    unsure = {(one.external_id, text): draw.random() < 0.4 for one in instances for text in (TRUE, BRIEF)}
    drafts = tuple(
        ImportedDraft(name, text, 3.0, probabilities=UNSURE if doubts else SURE)
        for (name, text), doubts in unsure.items()
    )
    work = tuple(
        ImportedSubmission(
            person, one.external_id, text,
            float(draw.choice((1, 2, 4, 5))) if unsure[one.external_id, text] else 3.0,
            submitted_at="2026-01-01T09:00:00.000Z", arm=Arm.BLIND,
        )
        for one in instances[:SCORED] for text in (TRUE, BRIEF) for person in ("Ana", "Ben")
    )  # fmt: skip
    run = ImportedRun(Run("imported", "m", "judge"), drafts)
    return Study(
        Task("demo", "A task", "Answer the question."),
        instances,
        (Criterion(TRUE), Criterion(BRIEF)),
        (run,),
        work,
    )


UNSURE_LINES = {
    (draft.instance, draft.criterion)
    for draft in make_unsure_study().runs[0].drafts
    if draft.probabilities == UNSURE and int(draft.instance[1:]) >= SCORED
}
