"""Baselines for the judge within one part: constants, judges before learning, and a person."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from coeval.extensions.judge.certificate.schema import Number, Rival
from coeval.extensions.judge.learning.cross_validation import FEWEST, KEYS, mean_over_documents, measure
from coeval.extensions.judge.model.labels import Labels
from coeval.stats.estimates import Estimate

JUDGE, CONSTANT, CRITERIA, RAW, PERSON = (
    "this judge",
    "a constant",
    "criterion means",
    "the judge before learning",
    "the best single person",
)


def as_number(estimate: Estimate) -> Number:
    """Return an estimate as a ``Number``, without an interval if there are fewer than ``FEWEST`` documents."""
    if not estimate.defined:
        return Number(value=None, reason=estimate.reason or "undefined")
    low, high = estimate.ci
    clusters = int(estimate.details.get("clusters", 0))
    bounded = low == low and high == high and not 0 < clusters < FEWEST
    return Number(
        value=float(estimate),
        low=float(low) if bounded else None,
        high=float(high) if bounded else None,
        clusters=clusters if bounded else 0,
    )


def compare_rivals(
    lines: pd.DataFrame, raw: Mapping[str, pd.DataFrame], dev: Labels, sealed: Labels
) -> tuple[Rival, ...]:
    """Return the judge and its rivals on the lines that the judge scored. A single person is compared on
    their own lines.

    Parameters
    ----------
    lines : the lines with ``human`` (people's mean), ``document`` and the judge's ``score``.
    raw : the scores of each judge before learning, by its name: ``instance``, ``criterion``, ``score``.
    dev, sealed : people's scores of the two parts. Constants are means of ``dev``, and the person is chosen on it.
        Before a certificate, the lines of ``dev`` itself are compared, which makes the rivals look slightly better.
    """
    scored = lines[lines["score"].notna()]
    means = dev.people.groupby("criterion")["score"].mean()
    overall = dev.people["score"].mean()
    rivals = [
        _rival(JUDGE, "as it was frozen", scored, scored),
        _rival(
            CONSTANT,
            f"people's mean on the dev part, {overall:.2f}, for every line",
            scored.assign(score=overall),
            scored,
        ),
        _rival(
            CRITERIA,
            "people's mean on the dev part by criterion",
            scored.assign(score=scored["criterion"].map(means).astype(float)),  # a text if there are no lines
            scored,
        ),
    ]
    for name, table in raw.items():
        raw_scores = scored.drop(columns="score").merge(table[[*KEYS, "score"]], on=KEYS)
        rivals.append(
            _rival(RAW if len(raw) == 1 else f"{RAW}: {name}", f"{name}, as it is", raw_scores, scored)
        )
    rivals.append(_best_person(scored, dev, sealed))
    return tuple(rivals)


def _rival(name: str, note: str, rows: pd.DataFrame, judge: pd.DataFrame) -> Rival:
    measured = measure(rows)
    joined = rows[[*KEYS, "document", "human", "score"]].merge(
        judge[[*KEYS, "score"]], on=KEYS, suffixes=("", "_judge")
    )
    joined = joined.dropna(subset=["score", "score_judge"])
    gap = (joined["score"] - joined["human"]) ** 2 - (joined["score_judge"] - joined["human"]) ** 2
    gain = mean_over_documents(gap, joined["document"])
    return Rival(
        name=name,
        note=note,
        lines=measured.lines,
        rmse=as_number(measured.rmse),
        mae=as_number(measured.mae),
        pearson=as_number(measured.pearson),
        kendall=as_number(measured.kendall),
        gain=Number(value=0.0) if name == JUDGE else as_number(gain),
    )


def _best_person(scored: pd.DataFrame, dev: Labels, sealed: Labels) -> Rival:
    """Compare the judge with the person who is closest to the others on the dev part, on that person's lines."""
    dev_scores = _against_others(dev.people)
    tried = _against_others(sealed.people)
    errors = ((dev_scores["score"] - dev_scores["human"]) ** 2).groupby(dev_scores["person"]).mean()
    errors = errors[errors.index.isin(tried["person"])]
    if errors.empty:
        reason = "nobody has lines in both parts that others also scored"
        figures = dict.fromkeys(
            ("rmse", "mae", "pearson", "kendall", "gain"), Number(value=None, reason=reason)
        )
        return Rival(name=PERSON, note=reason, lines=0, **figures)
    kept = tried[tried["person"] == errors.idxmin()]
    judge = kept.drop(columns="score").merge(scored[[*KEYS, "score"]], on=KEYS)
    note = (
        "the person closest to the others on the dev part, compared with the others; the gain compares the judge with "
        "the same others"
    )
    return _rival(PERSON, note, kept, judge)


def _against_others(people: pd.DataFrame) -> pd.DataFrame:
    """Return people's scores of lines that others also scored. ``human`` is the mean of the others."""
    grouped = people.groupby(KEYS)["score"]
    total, n = grouped.transform("sum"), grouped.transform("size")
    return people.assign(human=(total - people["score"]) / (n - 1).where(n > 1))[n > 1]
