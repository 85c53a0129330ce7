"""Labels of which the truth is known: judges without bias, with a bias by one criterion, and unsure where they err."""

from __future__ import annotations

import numpy as np
import pandas as pd

from coeval.domain import Scale
from coeval.judge.labels import Labels


def simulate_labels(
    seed: int,
    *,
    documents: int = 40,
    systems: int = 2,
    criteria: tuple[str, ...] = ("clear", "true"),
    people: int = 2,
    bias: float = 0.0,
    second: bool = True,
    telling: bool = False,
) -> Labels:
    """People who give, on average, exactly what judge ``a`` says, less ``bias`` by the first criterion.

    The judge says 2, 3 or 4; a person gives that, or a step more or less with the same chance, partly by a mood that a
    document's lines share. Judge ``b`` says what ``a`` says with noise of its own, and adds nothing. ``spread`` is
    noise or, where it is ``telling``, large where people's scores differ from the judge's.
    """
    rng = np.random.default_rng(seed)
    rows, verdicts = [], []
    for document in range(documents):
        mood = rng.choice([-1, 1])
        for system in range(systems):
            instance = f"{document}-{system}"
            for place, criterion in enumerate(criteria):
                said = int(rng.integers(2, 5))
                shift = bias if place == 0 else 0.0
                hard = rng.random() < 0.5
                for person in range(people):
                    chance = (0.7 if hard else 0.05) if telling else 0.4
                    step = (mood if rng.random() < 0.3 else rng.choice([-1, 1])) * (rng.random() < chance)
                    given = float(np.clip(said + step - shift, 1, 5))
                    rows.append((instance, f"d{document}", f"s{system}", criterion, f"P{person}", given))
                spread = (0.4 if hard else 0.1) + 0.1 * rng.random() if telling else rng.random()
                verdicts.append((instance, criterion, "a", float(said), spread))
                if second:
                    other = float(np.clip(said + rng.normal(), 1, 5))
                    verdicts.append((instance, criterion, "b", other, rng.random()))
    return Labels(
        pd.DataFrame(rows, columns=["instance", "document", "system", "criterion", "person", "score"]),
        pd.DataFrame(verdicts, columns=["instance", "criterion", "judge", "score", "spread"]),
        {criterion: Scale(1, 5) for criterion in criteria},
    )
