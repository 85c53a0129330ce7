"""Biases of a judge at equal scores from people: length, format, own family, language, and position.

All intervals leave out whole documents.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from coeval.extensions.judge.learning.audit import LEAST, join_lines, share_of
from coeval.extensions.judge.model.labels import Labels
from coeval.stats.clusters import DOCUMENTS, parse_clusters, sums_interval
from coeval.stats.estimates import Estimate
from coeval.stats.rating_matrix import Numbers

NOT_HERE = "not measured here"
MARKED = re.compile(r"^\s*(?:[-*+•]|\d+[.)])\s|\*\*\S", re.MULTILINE)
"""A list item at the start of a line, or bold text."""
PAIR = ["run_label", "criterion", "document", "first", "second"]


@dataclass(frozen=True)
class Bias:
    """A bias with its test in words. The effect is undefined, with the reason, if the data do not allow the test.

    The unit is points of the scale or, for the position, a share of comparisons.
    """

    name: str
    test: str
    effect: Estimate
    unit: str = "points"

    @property
    def size(self) -> str:
        """Return the effect with its interval, or the reason why there is none."""
        if not self.effect.defined:
            return f"{NOT_HERE}, because {self.effect.reason}"
        share = self.unit == "share"
        value, low, high = (
            f"{100 * number:+.0f}" if share else f"{number:+.2f}"
            for number in (float(self.effect), *self.effect.ci)
        )
        interval = (
            f" ({low} to {high})" if self.effect.ci_low == self.effect.ci_low else ", without an interval"
        )
        return f"{value}{interval} {'percentage points' if share else 'points'}"

    def __str__(self) -> str:
        test = f" {self.test}" if self.effect.defined else ""
        return f"{self.name.capitalize()}: {self.size}{test}."


def find_biases(
    labels: Labels, judge: str, model: str, outputs: Mapping[str, str], pairs: pd.DataFrame
) -> list[Bias]:
    """Return the judge's biases over all criteria.

    Args:
        model: the judge's model, whose first word names its family.
        outputs: the text of each instance.
        pairs: comparisons by this model, with the columns ``PAIR`` and ``preference`` (1 for the first output).
    """
    lines = join_lines(labels, judge)
    texts = [outputs.get(str(name), "") for name in lines["instance"]]
    family = re.split(r"[^a-z]+", model.lower().rsplit("/", 1)[-1])[0]
    words = np.log2([max(len(text.split()), 1) for text in texts])
    marked = np.array([bool(MARKED.search(text)) for text in texts], dtype=float)
    foreign = np.array([_is_other_script(text) for text in texts], dtype=float)
    word = family if len(family) > 2 else rf"(?<![a-z]){family}(?![a-z])"  # "o" is not the family of "other"
    related = np.array(
        [bool(family and re.search(word, str(name).lower())) for name in lines["system"]], dtype=float
    )
    others = "compared with the others"
    return [
        Bias("length", "for each doubling of the number of words", _regress(lines, words, groups=False)),
        Bias(
            "position",
            "for the output shown first, over pairs in both orders",
            _find_position(pairs),
            "share",
        ),
        Bias("own family", f"for systems named “{family}”, {others}", _regress(lines, related)),
        Bias("format", f"for outputs with lists or bold text, {others}", _regress(lines, marked)),
        Bias("language", f"for outputs not in Latin script, {others}", _regress(lines, foreign)),
    ]


def _find_position(pairs: pd.DataFrame) -> Estimate:
    """Return the share of comparisons that the first output wins, minus one half.

    Only pairs in both orders count, so that the quality of the outputs cancels.
    """
    compared = pairs.dropna(subset=["preference"])
    turned = compared.rename(columns={"first": "second", "second": "first"})
    joined = compared.merge(turned[[*PAIR, "preference"]], on=PAIR, suffixes=("", "_turned"))
    joined = joined[joined["first"] < joined["second"]]
    if len(joined) < LEAST:
        return Estimate.undefined(
            f"its model compared fewer than {LEAST} pairs of outputs in both orders", n=len(joined)
        )
    mean = (joined["preference"] + joined["preference_turned"]).to_numpy(dtype=float) / 2
    share = share_of(mean, joined["document"].to_numpy())
    low, high = share.ci
    details = {
        name: share.details[name]
        for name in ("n", "se", "clusters", "interval_kind")
        if name in share.details
    }
    return Estimate(float(share) - 0.5, ci_low=low - 0.5, ci_high=high - 0.5, **details)


def _is_other_script(text: str) -> bool:
    letters = [letter for letter in text if letter.isalpha()]
    return sum(letter > "\u024f" for letter in letters) > len(letters) / 2


def _regress(lines: pd.DataFrame, x: Numbers, *, groups: bool = True) -> Estimate:
    """Return the coefficient of x in the least-squares regression of the judge on people's mean and x.

    Criteria are centred. The interval is the jackknife over documents, from their sums of products. ``groups`` says
    that x is 0 or 1, so that both groups need enough lines.
    """
    if groups and min((x > 0).sum(), (x <= 0).sum()) < LEAST:
        return Estimate.undefined(f"fewer than {LEAST} lines are of such outputs, or of others", n=len(x))
    if len(x) < LEAST or np.ptp(x) == 0:
        return Estimate.undefined(
            f"there are fewer than {LEAST} lines, or they do not differ in it", n=len(x)
        )
    table = pd.DataFrame({"judge": lines["score"].to_numpy(), "people": lines["human"].to_numpy(), "x": x})
    table = table - table.groupby(lines["criterion"].to_numpy()).transform("mean")
    j, p, v = (table[name].to_numpy(dtype=float) for name in ("judge", "people", "x"))
    clusters = parse_clusters(lines["document"].tolist(), len(lines), DOCUMENTS)
    sums = clusters.sums(np.column_stack([p * p, p * v, v * v, p * j, v * j]))
    spread = sums_interval(sums, _coefficient, DOCUMENTS)
    return Estimate(float(_coefficient(sums.sum(axis=0)[None, :])[0]), n=len(x), **spread)


def _coefficient(rows: Numbers) -> Numbers:
    pp, pv, vv, pj, vj = rows.T
    bottom = pp * vv - pv**2
    out = np.full(len(rows), np.nan)
    np.divide(pp * vj - pv * pj, bottom, out=out, where=bottom > 1e-12)
    return out
