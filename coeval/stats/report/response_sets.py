"""The section on response sets: people can defend several scores, so single scores differ even without a dispute.

A person's set is the score with the scores marked as also defensible. If nobody marked any, a band shows agreement and
the order of judges under the assumption that people would also defend neighbouring scores.

Source: Guerdan et al. 2025, Validating LLM-as-a-judge systems under rating indeterminacy (2503.05965).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from coeval.stats.agreement.patterns import MANY
from coeval.stats.clusters import Clusters, cut, sums_interval
from coeval.stats.estimates import Estimate, Spelled
from coeval.stats.frames import FIRST, StudyFrames
from coeval.stats.judges.closeness import shares_of
from coeval.stats.rating_matrix import Codes, Numbers
from coeval.stats.report.model_vs_people import choose_labels
from coeval.stats.report.tables import Table

BAND = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
"""Assumed probabilities that a person would also defend a neighbouring score."""


@dataclass(frozen=True)
class PeopleSets:
    """Shares of pairs of people who gave the same score, whose sets overlap, or in which one person's score
    is in the other's set.
    """

    same: Spelled
    overlap: Spelled
    defended: Spelled


@dataclass(frozen=True)
class JudgeSets:
    """A judge's scores compared with people's sets, over ``n`` units.

    ``defended`` is the probability that a person would defend the judge's score. ``mse`` is the squared distance
    between the shares of people and of the judge's samples that name each score, averaged over units.
    """

    run: str
    label: str
    n: int
    defended: Spelled
    mse: Spelled


@dataclass(frozen=True)
class Assumed:
    """The results if people would defend each neighbouring score with probability ``share``."""

    share: float
    overlap: Estimate
    judges: dict[str, float]
    """The ``mse`` of each judge, by the run's label."""
    best: str
    """The judge with the smallest ``mse``."""


@dataclass(frozen=True)
class ResponseSets:
    """The agreement of sets of scores. ``band`` has rows if only single scores are known."""

    labels: str
    leaned: bool
    n: int
    with_more: int
    """The number of scores with further defensible scores."""
    neighbours: float
    """The share of neighbouring scores that people would also defend; nan if nobody marked any."""
    people: PeopleSets
    judges: list[JudgeSets]
    band: list[Assumed]
    best_changes: bool | None
    """True if the best judge changes within the band; None without a band or with one judge."""


@dataclass(frozen=True, eq=False)
class _Sets:
    """Scores as positions on their criterion's scale, with their sets: ``member`` is scores x points."""

    unit: Codes
    place: Codes
    member: Numbers
    steps: Codes
    """The number of points on each score's scale."""


def response_sets_section(study: StudyFrames) -> ResponseSets:
    """Return the agreement between people's sets of scores, and between judges and people's sets.

    Intervals apply to other documents and these people.
    """
    reference = choose_labels(study)
    sets = _read_sets(study, reference.scored)
    if sets is None:
        few = f"no score is a whole step of a scale of at most {MANY} points"
        nothing = Spelled(Estimate.undefined(few if len(reference.scored) else "nobody has scored"))
        people = PeopleSets(nothing, nothing, nothing)
        return ResponseSets(reference.kind, reference.leaned, 0, 0, float("nan"), people, [], [], None)
    more = int((sets.member.sum(axis=1) > 1).sum())
    judges = _judged(study, sets)
    found = [_judge_row(study, sets, *judge) for judge in judges]
    band = [] if more else [_assume(study, sets, judges, share) for share in BAND]
    best = {one.best for one in band}
    return ResponseSets(
        reference.kind, reference.leaned, len(sets.unit), more, _neighbours(sets, more), _people(study, sets), found,
        band, len(best) > 1 if band and len(judges) > 1 else None,
    )  # fmt: skip


def _read_sets(study: StudyFrames, scored: pd.DataFrame) -> _Sets | None:
    width = max(len(study.criteria), 1)
    low, high = np.array([study.scales.get(one, (1, 5)) for one in study.criteria] or [(1, 5)], dtype=float).T
    criterion = scored["unit"].to_numpy() % width
    score = scored["score"].to_numpy(dtype=float)
    place, steps = score - low[criterion], (high - low)[criterion] + 1
    kept = (place == np.rint(place)) & (place >= 0) & (place < steps) & (steps <= MANY)
    if not kept.any():
        return None
    unit, place, steps = (
        scored["unit"].to_numpy()[kept],
        place[kept].astype(np.int64),
        steps[kept].astype(np.int64),
    )
    member = np.zeros((len(unit), int(steps.max())), dtype=bool)
    member[np.arange(len(unit)), place] = True
    if len(study.also):
        keys = ["annotator", "instance", "criterion"]
        names = scored[["annotator", "arm"]][kept].assign(
            instance=study.units["instance"].to_numpy()[unit], criterion=study.units["criterion"].to_numpy()[unit]
        )  # fmt: skip
        further = names.astype(object).merge(
            study.also.drop_duplicates(keys, keep="last"), on=keys, how="left"
        )
        # scores that a person would defend after the draft say nothing about the score before it
        own = further["also"].notna() & ~((further["arm"] == FIRST) & ("first" in choose_labels(study).kind))
        for row in np.flatnonzero(own):
            for text in str(further["also"].iloc[row]).split():
                at = int(float(text) - low[criterion[kept][row]])
                if 0 <= at < steps[row]:
                    member[row, at] = True
    return _Sets(unit, place, member, steps)


def _neighbours(sets: _Sets, more: int) -> float:
    named, there = 0, 0
    for step in (-1, 1):
        at = sets.place + step
        inside = (at >= 0) & (at < sets.steps)
        there += int(inside.sum())
        named += int(sets.member[np.flatnonzero(inside), at[inside]].sum())
    return named / there if more and there else float("nan")


def _people(study: StudyFrames, sets: _Sets) -> PeopleSets:
    """Return shares of pairs of people. Pairs are counted by unit, because only sets with several scores need
    pairs.
    """
    units, counts = _count(sets)
    size = counts.sum(axis=1)
    same = (counts * (counts - 1) / 2).sum(axis=1)
    overlap, defended = same.copy(), same.copy()
    wide = np.isin(sets.unit, sets.unit[sets.member.sum(axis=1) > 1])
    for unit, rows in pd.Series(np.flatnonzero(wide)).groupby(sets.unit[wide]):
        member, place = sets.member[rows], sets.place[rows]
        first, second = np.triu_indices(len(rows), 1)
        at = np.searchsorted(units, np.array([unit], dtype=np.int64))[0]
        overlap[at] = np.logical_and(member[first], member[second]).any(axis=1).sum()
        defended[at] = (member[first, place[second]].astype(float) + member[second, place[first]]).sum() / 2
    pairs = size * (size - 1) / 2
    clusters = study.clusters.of(units)
    return PeopleSets(*(_share(part, pairs, clusters) for part in (same, overlap, defended)))


def _count(sets: _Sets) -> tuple[Codes, Numbers]:
    """Return the units, and the number of people who gave each score as units x points."""
    units, code = np.unique(sets.unit, return_inverse=True)
    top = sets.member.shape[1]
    counts = np.bincount(code * top + sets.place, minlength=len(units) * top).reshape(-1, top)
    return units, counts.astype(float)


def _share(part: Numbers, whole: Numbers, clusters: Clusters) -> Spelled:
    if not whole.sum() > 0:
        return Spelled(Estimate.undefined("no unit was scored by two people"))
    sums = clusters.sums(np.column_stack([part, whole]))
    spread = sums_interval(sums, _ratio, clusters.kind)
    return Spelled(Estimate(float(part.sum() / whole.sum()), n=int(whole.sum()), **cut(spread, 0.0, 1.0)))


def _ratio(rows: Numbers) -> Numbers:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(rows[:, 0] / rows[:, 1])


Judged = tuple[str, str, Codes, Numbers]
"""Run, label, the units that the run and people scored, and the shares of its samples at each point of the scale."""


def _judged(study: StudyFrames, sets: _Sets) -> list[Judged]:
    top, found = sets.member.shape[1], []
    width = max(len(study.criteria), 1)
    low = np.array([study.scales.get(one, (1, 5))[0] for one in study.criteria] or [1.0])
    for run, part in study.model_scores.groupby("run", sort=False):
        own = part.drop_duplicates("unit", keep="last")
        own = own[own["unit"].isin(sets.unit)].sort_values("unit")
        if own.empty:
            continue
        units = own["unit"].to_numpy()
        given = [
            many if isinstance(many, tuple) else (one,)
            for many, one in zip(own["samples"], own["score"], strict=True)
        ]
        sizes = np.array([len(one) for one in given])
        places = np.concatenate(given) - np.repeat(low[units % width], sizes)
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        shares = (
            np.add.reduceat(shares_of(places, np.arange(top, dtype=float)), starts, axis=0) / sizes[:, None]
        )
        found.append((str(run), str(part["run_label"].iloc[0]), units, shares))
    return found


def _named(sets: _Sets, units: Codes, member: Numbers) -> Numbers:
    """Return the share of a unit's people who name each score, as units x points."""
    chosen = np.isin(sets.unit, units)
    code = np.searchsorted(units, sets.unit[chosen])
    table = np.zeros((len(units), member.shape[1]))
    np.add.at(table, code, member[chosen].astype(float))
    return np.asarray(table / np.bincount(code, minlength=len(units))[:, None])


def _judge_row(
    study: StudyFrames, sets: _Sets, run: str, label: str, units: Codes, shares: Numbers
) -> JudgeSets:
    people, clusters = _named(sets, units, sets.member), study.clusters.of(units)
    ones = np.ones(len(units))
    squares = ((people - shares) ** 2).sum(axis=1)
    sums = clusters.sums(np.column_stack([squares, ones]))
    spread = sums_interval(sums, _ratio, clusters.kind)
    top = float(sets.member.shape[1] + 1)
    mse = Spelled(Estimate(float(squares.mean()), n=len(units), **cut(spread, 0.0, top)))
    return JudgeSets(run, label, len(units), _share((people * shares).sum(axis=1), ones, clusters), mse)


def _assume(study: StudyFrames, sets: _Sets, judges: Sequence[Judged], share: float) -> Assumed:
    """Return the results if each neighbouring score were defended with probability ``share``."""
    _, counts = _count(sets)
    by_gap = [
        (counts * (counts - 1) / 2).sum(),
        *((counts[:, step:] * counts[:, :-step]).sum() for step in (1, 2)),
    ]
    size = counts.sum(axis=1)
    pairs = float((size * (size - 1) / 2).sum())
    # sets overlap at distance 1 if either person would defend the other's score; at 2, if both defend the middle
    met = by_gap[0] + (1 - (1 - share) ** 2) * by_gap[1] + share**2 * by_gap[2]
    overlap = (
        Estimate(float(met / pairs)) if pairs else Estimate.undefined("no unit was scored by two people")
    )
    errors: dict[str, float] = {}
    for _, label, own, shares in judges:
        people = _widen(_named(sets, own, sets.member), share)
        errors[label] = float(((people - _widen(shares, share)) ** 2).sum(axis=1).mean())
    return Assumed(share, overlap, errors, min(errors, key=errors.__getitem__) if errors else "")


def _widen(named: Numbers, share: float) -> Numbers:
    """Return the shares that name each score, if people also name each neighbouring score with this probability.

    >>> _widen(np.array([[0.0, 1.0, 0.0]]), 0.2).tolist()
    [[0.2, 1.0, 0.2]]
    """
    wider = named.copy()
    wider[:, 1:] += share * named[:, :-1]
    wider[:, :-1] += share * named[:, 1:]
    return wider


def response_sets_tables(section: ResponseSets) -> list[Table]:
    """Return tables of agreement with and without further scores, and of judges; or of the band."""
    if not section.n:
        return []
    people = section.people
    rows = [
        {"who": who, "value": one.value, "ci_low": one.get("ci_low"), "ci_high": one.get("ci_high"), "n": one.value.n}
        for who, one in (
            ("two people: the same score", people.same),
            ("two people: sets that share a score", people.overlap),
            ("two people: the score of one in the other's set", people.defended),
            *((f"{judge.label}: its score in a person's set", judge.defended) for judge in section.judges),
            *((f"{judge.label}: squared distance from people's sets", judge.mse) for judge in section.judges),
        )
        if one.value.defined
    ]  # fmt: skip
    if section.with_more:
        return [Table("response_sets", "More than one defensible score", _note(section), pd.DataFrame(rows))]
    band = [
        {"neighbours_defended": one.share, "sets_that_meet": one.overlap, **one.judges}
        for one in section.band
        if one.overlap.defined
    ]
    note = (
        "Nobody marked further scores. Each row assumes a probability that people would also defend a neighbouring "
        "score; the columns of judges are squared distances from people's sets. "
        + {
            True: "Which judge is best depends on it.",
            False: "The same judge is best throughout.",
            None: "",
        }[section.best_changes]
    )
    return (
        [Table("response_sets_band", "If neighbouring scores were defensible", note, pd.DataFrame(band))]
        if band
        else []
    )


def _note(section: ResponseSets) -> str:
    return (
        f"{section.with_more:,} of {section.n:,} {section.labels} scores come with further scores that the person "
        f"would also defend, {section.neighbours:.0%} of the neighbouring scores. A set is a score with these. "
        "Intervals apply to other documents and these people."
    )
