"""A study with two judges: the old one favours a system, so that its ranking is wrong, and its successor does not."""

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
from coeval.extensions.judge.fit import fit_judge
from coeval.extensions.judge.learning.learn import Wishes
from coeval.extensions.judge.seal import seal_task
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.study_import import import_study

CRITERION, UNSCORED = "Be true.", "Be kind."
WORTH = {"ape": 2.2, "bee": 3.0, "cow": 3.1}
FAVOURED = "ape"
PLAIN = Wishes(jury=False, calibration=False, deferral=False)


def make_bridged_study(documents: int = 60, anchors: int = 40, seed: int = 7) -> Study:
    """Three systems answer each document; people and the new judge score those of the first documents only.

    No judge and nobody scored ``UNSCORED``. The old judge is a point harsher than people, but for its favourite, to
    which it gives a point more.
    """
    draw = random.Random(seed)
    instances = tuple(
        Instance(f"{n}{system}", f"Question {n}?", f"Answer {n} by {system}.", f"d{n}", system)
        for n in range(documents)
        for system in WORTH
    )
    luck = {f"d{n}": draw.gauss(0, 0.5) for n in range(documents)}
    quality = {
        one.external_id: WORTH[one.system] + luck[one.document] + draw.gauss(0, 0.5) for one in instances
    }
    anchored = instances[: anchors * len(WORTH)]

    def scored(value: float) -> float:
        return float(min(5, max(1, round(value + draw.gauss(0, 0.4)))))

    old = tuple(
        ImportedDraft(one.external_id, CRITERION, scored(quality[one.external_id] - 1 + 2 * (one.system == FAVOURED)))
        for one in instances
    )  # fmt: skip
    new = tuple(
        ImportedDraft(one.external_id, CRITERION, scored(quality[one.external_id])) for one in anchored
    )
    work = tuple(
        ImportedSubmission(
            person, one.external_id, CRITERION, scored(quality[one.external_id]),
            submitted_at="2026-01-01T09:00:00.000Z", arm=Arm.BLIND,
        )
        for one in anchored for person in ("Ana", "Ben")
    )  # fmt: skip
    runs = (
        ImportedRun(Run("imported", "old-model", "old"), old),
        ImportedRun(Run("imported", "new-model", "new"), new),
    )
    return Study(
        Task("demo", "A task", "Answer the question."),
        instances,
        (Criterion(CRITERION), Criterion(UNSCORED)),
        runs,
        work,
    )


def seal_bridged_study(context: Context, study: Study | None = None) -> tuple[int, int]:
    """Import the study, seal a tenth of it, and fit both judges; return their ids, the old one's first."""
    import_study(context, OPERATOR, study or make_bridged_study())
    seal_task(context, OPERATOR, "demo", 0.1)
    for run in ("old", "new"):
        fit_judge(context, OPERATOR, "demo", run, wishes=PLAIN)
    return 1, 2
