"""Scored outputs of two systems whose true difference is known, by a judge that may err by more on one of them."""

from __future__ import annotations

import numpy as np
import pandas as pd

from coeval.judge.gate.deciding import Gate, Terms, hold_gate
from tests.support.studies.judge_files import CRITERIA, make_judge

JUDGE = make_judge(criteria=CRITERIA[:1])
TERMS = Terms("new", "old", margin=-0.1, min_n=50)


def simulate_outputs(
    rng: np.random.Generator,
    difference: float,
    *,
    documents: int = 150,
    labelled: int = 60,
    bias: float = 0.3,
) -> pd.DataFrame:
    """Outputs on whole steps from 1 to 5, two systems a document, some scored by two people.

    ``bias`` is by how much more the judge overrates the new system. Rounding to steps and cutting at the ends would
    move the true difference, so it is made of shares: with that chance an output of the new system is a step away.
    """
    quality = rng.integers(2, 5, documents)  # 2 to 4: a step on either side is on the scale
    rows = []
    for system in ("new", "old"):
        step = rng.random(documents) < abs(difference)
        truth = quality + (np.sign(difference) * step if system == "new" else 0)
        people = truth + rng.choice([-0.5, 0, 0.5], documents)
        over = rng.random(documents) < (bias if system == "new" else 0)
        judged = truth + over + rng.choice([-1, 0, 0, 1], documents)
        kept = np.where(np.arange(documents) < labelled, people, np.nan)
        rows.append(
            pd.DataFrame(
                {
                    "instance": [f"{system}{place}" for place in range(documents)],
                    "document": np.arange(documents).astype(str),
                    "system": system,
                    "criterion": "Be right.",
                    "raw": judged.astype(float),
                    "score": judged.astype(float),
                    "people": kept,
                }
            )
        )
    return pd.concat(rows, ignore_index=True)


def simulate_gate(seed: int, difference: float, **options: float) -> Gate:
    """One gate over simulated outputs."""
    rng = np.random.default_rng(seed)
    return hold_gate(simulate_outputs(rng, difference, **options), JUDGE, TERMS)  # type: ignore[arg-type]
