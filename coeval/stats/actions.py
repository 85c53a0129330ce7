"""The actions of people on drafts: rates, score changes, and the four behaviours."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from coeval.stats.estimates import Estimate
from coeval.stats.frames import ASSISTED, BLIND, FIRST, is_planted
from coeval.stats.rating_matrix import Codes, Numbers, parse_vector

ACTIONS = ("approve", "revise", "delete", "add")
KINDS = ("conclusion", "score", "evidence")
BEHAVIOURS = {
    "far": "the final score lies more than one point from the median of the others",
    "nearer": "not far; the draft's score was changed, and brought nearer to the median of the others",
    "elsewhere": "not far; the draft's score was changed, but not brought nearer to the median of the others",
    "kept": "not far; the draft's score was kept",
}
"""Operational definitions, applied in this order. Together they cover every submission."""


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


@dataclass(frozen=True)
class Share:
    """A count and its share."""

    n: int
    rate: Estimate


@dataclass(frozen=True)
class ArmBehaviours:
    """The four behaviours of the ``n`` submissions of an arm."""

    n: int
    n_left_out: int
    nearer: Share
    kept: Share
    elsewhere: Share
    far: Share

    def of(self, name: str) -> Share:
        """Return one of ``BEHAVIOURS``."""
        share: Share = getattr(self, name)
        return share


@dataclass(frozen=True)
class FourBehaviours:
    """The four behaviours by arm. The arm ``first`` counts with the final score, from after the draft was shown."""

    definitions: Mapping[str, str]
    assisted: ArmBehaviours
    blind: ArmBehaviours
    first: ArmBehaviours

    def of(self, arm: str) -> ArmBehaviours:
        """Return the behaviours of an arm."""
        return {ASSISTED: self.assisted, BLIND: self.blind, FIRST: self.first}[arm]


JUDGED = ("instance", "criterion", "arm", "score", "draft_score", "planted_score", "planted_error")


def four_behaviours(scores: pd.DataFrame) -> FourBehaviours:
    """Return how often people kept a draft's score, and where they moved it, by our own rules (``BEHAVIOURS``).

    Each submission is compared with the median of the other people's scores of the same instance and criterion. The
    four classes of the CoEval paper (table 9) are others: see ``against_majority``. Blind submissions are
    compared with the withheld draft, which shows the rates by chance.

    Parameters
    ----------
    scores : ``annotator, instance, criterion, arm, score, draft_score``; optionally ``planted_score`` and
        ``planted_error``, which mark deliberately wrong drafts; these are left out, also of the others' median.

    Returns
    -------
    FourBehaviours
        ``n_left_out`` counts submissions without a drafted score or with fewer than two other people.

    >>> people = pd.DataFrame({"annotator": list("abcd"), "instance": 1, "criterion": "x", "arm": "assisted",
    ...                        "score": [4, 4, 3, 1], "draft_score": 3})
    >>> found = four_behaviours(people)
    >>> [(name, found.assisted.of(name).n) for name in ("nearer", "kept", "elsewhere", "far")]
    [('nearer', 0), ('kept', 1), ('elsewhere', 2), ('far', 1)]
    """
    wanted = [name for name in JUDGED if name in scores]
    known = scores[wanted].dropna(subset=["score"]).reset_index(drop=True)
    unit = np.asarray(known.groupby(["instance", "criterion"], sort=False).ngroup(), dtype=np.int64)
    score = known["score"].to_numpy(dtype=float)
    draft = known["draft_score"].to_numpy(dtype=float)
    genuine = ~is_planted(known).to_numpy() if "planted_score" in known else np.ones(len(known), dtype=bool)
    others, n_others = np.full(len(known), np.nan), np.zeros(len(known), dtype=np.int64)
    others[genuine], n_others[genuine] = others_median(pd.factorize(unit[genuine])[0], score[genuine])
    usable = genuine & ~np.isnan(draft) & (n_others > 1)
    which = _behaviour(score, draft, others)
    arms = {}
    for arm in (ASSISTED, BLIND, FIRST):
        of_arm = (known["arm"] == arm).to_numpy()
        arms[arm] = _shares(which[of_arm & usable], int((of_arm & ~usable).sum()))
    return FourBehaviours(BEHAVIOURS, arms[ASSISTED], arms[BLIND], arms[FIRST])


def _behaviour(score: Numbers, draft: Numbers, others: Numbers) -> Any:
    off, drafted_off = np.abs(score - others), np.abs(draft - others)
    return np.select(
        [off > 1, (score != draft) & (off < drafted_off), score != draft],
        list(BEHAVIOURS)[:3],
        default=list(BEHAVIOURS)[3],
    )


def _shares(which: Any, left_out: int) -> ArmBehaviours:
    shares = {}
    for name in BEHAVIOURS:
        n = int((which == name).sum())
        rate = Estimate(n / len(which)) if len(which) else Estimate.undefined("no submission can be judged")
        shares[name] = Share(n, rate)
    return ArmBehaviours(n=len(which), n_left_out=left_out, **shares)


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


def others_median(unit: Codes, score: Numbers) -> tuple[Numbers, Codes]:
    """Return, for each score, the median of the unit's other scores (nan if there are none) and the number of
    these scores.

    >>> others_median(np.array([0, 0, 0]), np.array([1.0, 2.0, 5.0]))[0].tolist()
    [3.5, 3.0, 1.5]
    """
    order = np.lexsort((score, unit))
    sizes = np.bincount(unit) if len(unit) else np.zeros(0, dtype=np.int64)
    starts = (np.cumsum(sizes) - sizes)[unit[order]]
    rank, others = np.arange(len(unit)) - starts, sizes[unit[order]] - 1
    values = score[order]

    def other(k: Codes) -> Numbers:
        """Return the k-th smallest of the other scores. From the score's own rank on, ranks move up by one."""
        place = starts + k + (k >= rank)
        return np.asarray(values[np.minimum(place, len(values) - 1)])

    middle = (other((others - 1) // 2) + other(others // 2)) / 2 if len(values) else values
    medians, counts = np.empty(len(unit)), np.empty(len(unit), dtype=np.int64)
    medians[order], counts[order] = np.where(others > 0, middle, np.nan), others
    return medians, counts
