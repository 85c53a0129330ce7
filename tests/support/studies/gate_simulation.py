"""Scored outputs of two systems whose true difference is known, by a judge that may err by more on one of them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

from coeval.extensions.judge.runtime.gate import Gate, Outcome, Terms, hold_gate
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


SHAPES: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "rare drops": lambda rng, n: np.where(rng.random(n) < 0.1, -1.0, 0.0),
    "many small drops, rare gains": lambda rng, n: np.where(rng.random(n) < 0.8, -0.5, 1.5),
    "a long tail of gains": lambda rng, n: rng.exponential(0.4, n) - 0.5,
    "a long tail of losses": lambda rng, n: 0.3 - rng.exponential(0.4, n),
    "even": lambda rng, n: rng.choice([-1, 0, 0, 1], n) - 0.1,
}
"""Differences within documents whose true mean is the margin, -0.1."""


def draw_skewed(seed: int, shape: str, documents: int = 80) -> pd.DataFrame:
    """Outputs of two systems with differences of a shape, whose true mean is the margin."""
    rng = np.random.default_rng(seed)
    old = rng.uniform(2, 4, documents)
    rows = [
        pd.DataFrame({"document": np.arange(documents).astype(str), "system": system, "score": scores})
        for system, scores in (("new", old + SHAPES[shape](rng, documents)), ("old", old))
    ]
    table = pd.concat(rows, ignore_index=True)
    return table.assign(criterion="Be right.", raw=table["score"], people=np.nan)


def simulate_skewed(seed: int, shape: str) -> Outcome:
    """How a gate ends over such outputs."""
    return hold_gate(draw_skewed(seed, shape), JUDGE, TERMS).outcome


RARE = ((100, 20), (60, 12), (100, 10), (150, 60))
"""Documents, and how many of them people scored, where one output in 20 loses four points."""


def draw_rare_losses(
    rng: np.random.Generator, documents: int, labelled: int, *, noise: float = 0.0, seen: float = 0.0
) -> pd.DataFrame:
    """Outputs whose true mean difference is -0.2: one in 20 of the new system falls from 5 to 1.

    The judge sees the share ``seen`` of these falls. ``noise`` is the chance that a score of people or the judge is
    one point lower, on either system.
    """
    fallen = rng.random(documents) < 0.05
    noticed = fallen & (rng.random(documents) < seen)
    rows = []
    for system, people, judged in (("new", fallen, noticed), ("old", fallen & False, fallen & False)):
        theirs, its = (5.0 - 4 * down - (rng.random(documents) < noise) * ~down for down in (people, judged))
        rows.append(
            pd.DataFrame(
                {
                    "document": np.arange(documents).astype(str),
                    "system": system,
                    "score": its,
                    "people": np.where(np.arange(documents) < labelled, theirs, np.nan),
                }
            )
        )
    table = pd.concat(rows, ignore_index=True)
    return table.assign(criterion="Be right.", raw=table["score"])


def simulate_rare_losses(seed: int, documents: int, labelled: int, noise: float, seen: float) -> Outcome:
    """How a gate at a margin of -0.2 ends over such outputs."""
    table = draw_rare_losses(np.random.default_rng(seed), documents, labelled, noise=noise, seen=seen)
    return hold_gate(table, JUDGE, Terms("new", "old", margin=-0.2, min_n=50)).outcome
