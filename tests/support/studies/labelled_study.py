"""A study for labels: two systems, two judges that hear other wordings, and three people who label some of it."""

from __future__ import annotations

import random
from itertools import product

from coeval.domain import (
    Arm,
    Criterion,
    EvaluationRow,
    ImportedDraft,
    ImportedRun,
    ImportedSubmission,
    Instance,
    RowKind,
    Run,
    Study,
    Task,
)

CLEAR, RIGHT = "Be clear.", "Be right."
PEOPLE = {"Ana": 0.0, "Ben": 0.6, "Cem": -0.6}
"""How lenient each person is, in points."""


def make_labelled_study(
    documents: int = 30,
    *,
    labelled: tuple[str, ...] = ("old", "new"),
    seed: int = 4,
    criteria: tuple[str, str] = (CLEAR, RIGHT),
) -> Study:
    """People score without a draft; the judges are harsh, and the second is harsher and noisier than the first."""
    draw = random.Random(seed)
    instances, drafts, work = [], {"first": list[ImportedDraft](), "second": list[ImportedDraft]()}, []
    for n, system in product(range(documents), ("old", "new")):
        one = Instance(f"{system}{n}", f"Question {n}?", f"Answer {n} by {system}.", f"d{n}", system)
        instances.append(one)
        for criterion in criteria:
            worth = draw.gauss(2.6 if system == "old" else 3.5, 0.9) + (0.3 if criterion == CLEAR else 0.0)
            for label, harsh, noise in (("first", 0.4, 0.4), ("second", 0.8, 0.7)):
                samples = tuple(_score(worth - harsh, draw.gauss(0, noise)) for _ in range(3))
                said = sorted(samples)[1]
                rows = (EvaluationRow(RowKind.CONCLUSION, "So."), EvaluationRow(RowKind.SCORE, f"{said:g}"))
                drafts[label].append(ImportedDraft(one.external_id, criterion, said, rows, samples=samples))
            if system in labelled:
                work += [
                    ImportedSubmission(
                        name, one.external_id, criterion, _score(worth + lenient, draw.gauss(0, 0.5)),
                        submitted_at=f"2026-01-0{1 + n // 10}T{n % 10:02}:00:00.000Z", arm=Arm.BLIND,
                    )
                    for name, lenient in PEOPLE.items()
                ]  # fmt: skip
    runs = tuple(
        ImportedRun(Run("imported", f"model-{label}", label, shown=label == "first"), tuple(drafts[label]))
        for label in drafts
    )
    return Study(
        Task("labels", "Labels", "Answer the question."), tuple(instances), tuple(map(Criterion, criteria)),
        runs, tuple(work),
    )  # fmt: skip


def _score(worth: float, noise: float) -> float:
    return float(min(5, max(1, round(worth + noise))))
