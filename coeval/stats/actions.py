"""The actions of people on drafts: rates, score changes, and the comparison with the majority without drafts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from coeval.stats.estimates import Estimate
from coeval.stats.rating_matrix import parse_vector

ACTIONS = ("approve", "revise", "delete", "add")
KINDS = ("conclusion", "score", "evidence")


@dataclass(frozen=True)
class Rates:
    """The share of each action in ``n`` lines, undefined if n is 0."""

    n: int
    approve: Estimate
    revise: Estimate
    delete: Estimate
    add: Estimate

    def of(self, action: str) -> Estimate:
        """Return the share of one of ``ACTIONS``."""
        return dict(zip(ACTIONS, (self.approve, self.revise, self.delete, self.add), strict=True))[action]


@dataclass(frozen=True)
class ActionRates:
    """Action rates over all lines and by kind of line."""

    overall: Rates
    conclusion: Rates
    score: Rates
    evidence: Rates

    def of(self, kind: str) -> Rates:
        """Return the rates of one of ``KINDS``."""
        return dict(zip(KINDS, (self.conclusion, self.score, self.evidence), strict=True))[kind]


def action_rates(actions: Any) -> ActionRates:
    """Return how often people approved, revised, deleted and added lines, overall and by kind of line.

    Parameters
    ----------
    actions : DataFrame with a column ``action``, and optionally ``kind`` (conclusion, score, evidence) and
        ``n`` (how often); or an iterable of actions, of (kind, action) pairs or of mappings with those keys.

    Returns
    -------
    ActionRates

    Raises
    ------
    ValueError
        If an action is not one of the four.

    Source: Li et al. 2023, CoEval, tables 5 and 6.

    >>> rates = action_rates([("score", "approve"), ("score", "revise"), ("evidence", "approve"), ("evidence", "add")])
    >>> rates.overall.n, rates.overall.approve, rates.score.revise, rates.conclusion.approve.reason
    (4, 0.5, 0.5, 'there is no such line')
    """
    counts = _counted(actions)
    overall = Counter({a: sum(n for (_, b), n in counts.items() if a == b) for a in ACTIONS})
    kinds = {kind: _rates(Counter({action: counts[kind, action] for action in ACTIONS})) for kind in KINDS}
    return ActionRates(_rates(overall), **kinds)


def _counted(actions: Any) -> Counter[tuple[str, str]]:
    frame = actions if isinstance(actions, pd.DataFrame) else _as_table(actions)
    kinds = frame["kind"] if "kind" in frame else pd.Series("", index=frame.index)
    times = frame["n"] if "n" in frame else pd.Series(1, index=frame.index)
    counts: Counter[tuple[str, str]] = Counter()
    sums = times.groupby([kinds.astype(str), frame["action"].astype(str)]).sum()
    for key, n in zip(sums.index, sums, strict=True):
        kind, action = (str(part).strip().lower() for part in key)
        if action not in ACTIONS:
            raise ValueError(f"There is no action {action!r}; an action is one of: {', '.join(ACTIONS)}.")
        counts[kind, action] += int(n)
    return counts


def _as_table(actions: Any) -> pd.DataFrame:
    rows = [
        dict(entry)
        if isinstance(entry, Mapping)
        else {"action": entry}
        if isinstance(entry, str)
        else {"kind": entry[0], "action": entry[1]}
        for entry in actions
    ]
    return pd.DataFrame(rows, columns=None if rows else ["action"])


def _rates(counts: Counter[str]) -> Rates:
    n = sum(counts.values())
    shares = {
        action: Estimate(counts[action] / n) if n else Estimate.undefined("there is no such line")
        for action in ACTIONS
    }
    return Rates(n, **shares)


@dataclass(frozen=True)
class ScoreChanges:
    """The number of drafted scores that people raised, lowered and kept, and the mean of person minus draft."""

    n: int
    raised: int
    lowered: int
    unchanged: int
    mean_change: Estimate
    n_left_out: int


def score_changes(score: Any, draft: Any) -> ScoreChanges:
    """Return the changes that people made to drafted scores.

    Parameters
    ----------
    score, draft : the person's and the draft's score of each submission, nan if missing. Submissions
        without both are left out and counted.

    Returns
    -------
    ScoreChanges

    >>> score_changes([3, 4, 5, None], [3, 5, 3, 1])
    ScoreChanges(n=3, raised=1, lowered=1, unchanged=1, mean_change=0.3333333333333333, n_left_out=1)
    """
    moved = parse_vector(score, "score") - parse_vector(draft, "draft")
    kept = moved[~np.isnan(moved)]
    mean = Estimate(kept.mean()) if len(kept) else Estimate.undefined("no submission has both scores")
    return ScoreChanges(
        n=len(kept),
        raised=int((kept > 0).sum()),
        lowered=int((kept < 0).sum()),
        unchanged=int((kept == 0).sum()),
        mean_change=mean,
        n_left_out=len(moved) - len(kept),
    )


MAJORITY = {
    (True, True): "the draft agrees, and the final score agrees",
    (False, True): "the draft differs, and the final score agrees",
    (True, False): "the draft agrees, and the final score differs",
    (False, False): "the draft differs, and the final score differs",
}
"""The classes of ``against_majority``, by whether the draft and the final score are the majority's score."""


def against_majority(assisted: pd.DataFrame, unaided: pd.DataFrame) -> list[dict[str, object]]:
    """Return how often people with the draft agree with the majority of people without it (CoEval paper, table 9).

    A unit has a majority if more than half of its unaided scores, and at least two, are the same.

    Parameters
    ----------
    assisted, unaided : ``unit`` and ``score``; ``assisted`` also ``draft_score``.

    Returns
    -------
    list of dict
        A row for each class of ``MAJORITY``: its ``n``, and its ``rate`` of the ``of`` submissions with a draft's score
        and a majority. No rows if there are none.

    >>> shown = pd.DataFrame({"unit": [1, 1, 2], "score": [4, 3, 5], "draft_score": [3, 3, 5]})
    >>> blind = pd.DataFrame({"unit": [1, 1, 1, 2], "score": [4, 4, 2, 5]})
    >>> [(row["n"], row["of"]) for row in against_majority(shown, blind)]
    [(0, 2), (1, 2), (0, 2), (1, 2)]
    """
    counts = unaided.dropna(subset=["score"]).groupby(["unit", "score"]).size().rename("n").reset_index()
    total = counts.groupby("unit")["n"].transform("sum")
    major = counts[(counts["n"] > 1) & (counts["n"] * 2 > total)].set_index("unit")["score"]
    known = assisted.dropna(subset=["score", "draft_score"])
    known = known[known["unit"].isin(major.index)]
    wanted = known["unit"].map(major)
    pairs = Counter(zip(known["draft_score"] == wanted, known["score"] == wanted, strict=True))
    of = len(known)
    return [
        {"behaviour": name, "n": pairs[key], "of": of, "rate": pairs[key] / of}
        for key, name in MAJORITY.items()
        if of
    ]
