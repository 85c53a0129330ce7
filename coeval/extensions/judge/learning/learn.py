"""Learn from people's scores of the dev documents: try each step, and keep it only if it helps.

Steps are learned in the order in which they are applied: examples, jury, calibration, deferral. These functions use all
data that they receive, so pass only the dev part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pandas as pd

from coeval.errors import InputError
from coeval.extensions.judge.learning import calibration as calibration_module
from coeval.extensions.judge.learning import jury as jury_module
from coeval.extensions.judge.learning.calibration import Seen
from coeval.extensions.judge.learning.cross_validation import (
    FOLDS,
    RATE,
    Comparison,
    Fold,
    Measures,
    compare,
    deal,
    join_tables,
    judged_lines,
    mean_over_documents,
    measure,
    one_sided,
    told_why,
)
from coeval.extensions.judge.model.fitted import Confidence, Deferral, Fitted, Jury, find_confidence
from coeval.extensions.judge.model.labels import PROBABILITIES, Labels
from coeval.llm.prompting.questions import Example
from coeval.stats.estimates import Estimate

KINDS: tuple[Confidence, ...] = ("samples", "jury", "probability")
THEOREM = "conformal risk control over documents (Angelopoulos et al. 2024, theorem 1)"


@dataclass(frozen=True)
class Separation:
    """The increase in people's agreement with the judge from low to high confidence.

    ``gap`` is the least-squares difference in agreement between the least and the most confident line. ``p_value`` is
    one-sided.
    """

    kind: Confidence
    gap: Estimate
    p_value: float


def known_kinds(table: pd.DataFrame) -> tuple[Confidence, ...]:
    """Return the kinds of confidence whose values vary in a table from ``Fitted.apply``."""
    kept = []
    for kind in KINDS:
        if kind == "probability" and PROBABILITIES not in table:
            continue
        confidence = find_confidence(table, kind)
        if np.unique(confidence[~np.isnan(confidence)]).size > 1:
            kept.append(kind)
    return tuple(kept)


def separation(lines: pd.DataFrame, kind: Confidence) -> Separation:
    """Measure how well confidence predicts agreement: the slope of agreement over the rank of confidence.

    ``lines`` come from ``judged_lines``. The interval leaves out whole documents. Ranks from 0 to 1 have a variance of
    1/12, so the slope is 12 times the mean product of centred rank and centred agreement.
    """
    confidence = find_confidence(lines, kind)
    mask = ~(np.isnan(confidence) | lines["agree"].isna().to_numpy())
    rows = lines[mask]
    if len(rows) < 2:
        return Separation(kind, Estimate.undefined("no line has a confidence"), np.nan)
    rank = pd.Series(confidence[mask]).rank(pct=True).to_numpy()
    agree = rows["agree"].to_numpy(dtype=float)
    gap = mean_over_documents(
        pd.Series((rank - rank.mean()) * (agree - agree.mean()) * 12, rows.index), rows["document"]
    )
    return Separation(kind, gap, one_sided(gap))


def fit_deferral(lines: pd.DataFrame, kind: Confidence, *, agreement: float, coverage: float) -> Deferral:
    """Return the threshold that keeps a new document's expected loss at or below (1 - agreement) * coverage.

    Parameters
    ----------
    lines : the result of ``judged_lines`` for scores that were learned on other documents:
        ``document``, ``agree``, ``score`` and the columns of the confidence.
    agreement, coverage : the goal, such as .85 agreement on .80 of the lines.

    Raises
    ------
    InputError
        If agreement or coverage is not between 0 and 1.
    """
    for name, value in (("agreement", agreement), ("coverage", coverage)):
        if not 0 < value < 1:
            raise InputError(f"The {name} is {value}: give a number between 0 and 1.")
    level = (1 - agreement) * coverage
    confidence = find_confidence(lines, kind)
    usable = ~(np.isnan(confidence) | lines["agree"].isna().to_numpy())
    document = pd.factorize(lines["document"])[0]
    n, size = int(document.max(initial=-1)) + 1, np.bincount(document)
    loss = np.where(usable, 1 - np.nan_to_num(lines["agree"].to_numpy(dtype=float)), 0.0) / size[document]
    order = np.argsort(-np.where(usable, confidence, -np.inf), kind="stable")[: int(usable.sum())]
    total = np.cumsum(loss[order])
    # a threshold keeps all lines with the same confidence, so only the last of them counts
    last = np.append(np.diff(confidence[order]) != 0, True) if len(order) else np.empty(0, dtype=bool)
    allowed = np.flatnonzero(last & ((total + 1) / (n + 1) <= level))
    if not len(allowed):
        told = f"No line can stay with the judge at the level {level:.3f} with {n} documents; by {THEOREM}."
        return Deferral(
            kind=kind, threshold=None, within=0, coverage=0, agreement=None, level=level, computed=told
        )
    kept = int(allowed[-1]) + 1
    share = float((1 / size[document[order[:kept]]]).sum() / n)
    promised = max(0.0, 1 - level / share)
    return Deferral(
        kind=kind,
        threshold=float(confidence[order[kept - 1]]),
        within=0,
        coverage=share,
        agreement=promised,
        level=level,
        computed=(
            f"In expectation at most {level:.3f} of a further document's lines stay with the judge and disagree with a "
            f"person, by {THEOREM}, with {n} documents; {share:.2f} of the lines stay, so "
            f"agreement on these is at least {promised:.3f}."
        ),
    )


# Learn each step, and keep it only if it helps.

EXAMPLES, JURY, CALIBRATION, DEFERRAL = "examples", "jury", "calibration", "when to ask a person"
MANY_STEPS = 11
"""If a scale has more steps than this, no cumulative logit is fitted."""
AGREEMENT, COVERAGE = 0.85, 0.8
"""Deferral aims at this share of agreement on this share of the lines."""


@dataclass(frozen=True)
class Wishes:
    """The steps to try, and the number of folds of the cross-validation."""

    jury: bool = True
    calibration: bool = True
    deferral: bool = True
    folds: int = FOLDS


@dataclass(frozen=True, eq=False)
class Study:
    """The result: the kept parts, all comparisons, and the cross-validated errors before and after.

    ``after`` is slightly optimistic, because the steps were chosen on the same dev documents. The certificate is not.
    """

    fitted: Fitted
    comparisons: tuple[Comparison, ...]
    before: Measures
    after: Measures
    lines: pd.DataFrame

    @property
    def kept(self) -> tuple[str, ...]:
        """Return the kept steps in order, each once."""
        return tuple(dict.fromkeys(c.step for c in self.comparisons if c.kept))


def learn(labels: Labels, wishes: Wishes = Wishes(), judge: str = "") -> Study:
    """Learn a jury, calibration and deferral from the labels of the dev documents.

    Parameters
    ----------
    labels : the labels of the dev part only.
    judge : the judge to start from; by default the plain mean of all judges.

    Raises
    ------
    InputError
        If there is no judge with this name.
    """
    return _learn(labels, wishes, judge, _count(labels, wishes), (), ())


def learn_beside_examples(
    labels: Labels,
    asked: Labels,
    examples: tuple[Example, ...],
    *,
    judge: str,
    wishes: Wishes = Wishes(),
) -> Study:
    """Learn like ``learn``, but first try the examples that people chose, with a run that used them.

    If the examples are kept, later steps learn from the answers with examples, and no jury with other judges is
    possible.
    ``asked`` has only the answers of that run, with examples from other documents. ``judge`` is the run without them.
    """
    comparisons = _count(labels, wishes) + 1
    before = judged_lines(labels, Fitted(jury=jury_module.single_judge(labels, judge)).apply(labels.judges))
    after = judged_lines(asked, Fitted().apply(asked.judges))
    shown = f"{len(examples)} example{'s' if len(examples) > 1 else ''}"
    told = compare(EXAMPLES, shown, "", before, after, comparisons)
    if not told.kept:
        return _learn(labels, wishes, judge, comparisons, (told,), ())
    return _learn(asked, wishes, asked.members[0], comparisons, (told,), examples, before)


def _learn(
    labels: Labels,
    wishes: Wishes,
    judge: str,
    comparisons: int,
    told: tuple[Comparison, ...],
    examples: tuple[Example, ...],
    start: pd.DataFrame | None = None,
) -> Study:
    base = jury_module.single_judge(labels, judge) if judge else None
    before = judged_lines(labels, Fitted(jury=base).apply(labels.judges))
    rows, folds = list(told), deal(labels, wishes.folds)
    bench: jury_module.Kind | None = None
    if wishes.jury and len(labels.members) > 1:
        bench = _try_jury(labels, folds, before, comparisons, rows)

    def sit(part: Labels) -> Fitted:
        return Fitted(jury=jury_module.fit_jury(part, bench) if bench else base)

    stages = tuple(_stage(fold, sit(fold.rest)) for fold in folds)
    lines = judged_lines(labels, _cross_calibrate(stages, {}))
    kinds = _try_calibration(labels, stages, lines, comparisons, rows) if wishes.calibration else {}
    if kinds:
        lines = judged_lines(labels, _cross_calibrate(stages, kinds))
    deferral = _try_deferral(lines, comparisons, rows) if wishes.deferral else None
    fitted, seen = sit(labels), Seen(labels, sit(labels).apply(labels.judges))
    maps = calibration_module.fit_calibration(seen, kinds) if kinds else None
    fitted = fitted.model_copy(update={"examples": examples, "calibration": maps, "deferral": deferral})
    return Study(
        fitted,
        tuple(rows),
        measure(before if start is None else start),
        measure(lines),
        lines,
    )


@dataclass(frozen=True, eq=False)
class Stage:
    """A fold with its jury applied: the labels for learning, and the jury's predictions for the test part."""

    seen: Seen
    own: pd.DataFrame


def _stage(fold: Fold, sat: Fitted) -> Stage:
    return Stage(Seen(fold.rest, sat.apply(fold.rest.judges)), sat.apply(fold.own.judges))


def _cross_calibrate(stages: Sequence[Stage], kinds: dict[str, str]) -> pd.DataFrame:
    """Predict every line with maps that were learned on the other folds."""
    return join_tables([calibration_module.fit_calibration(s.seen, kinds).apply(s.own) for s in stages])


def _scored(labels: Labels) -> list[str]:
    """Return the criteria that people scored. Maps may also use criteria that only judges scored."""
    scored = set(labels.people["criterion"])
    return [criterion for criterion in labels.criteria if criterion in scored]


def _kinds(labels: Labels, criterion: str) -> Iterator[str]:
    """Yield the kinds of maps to try on a criterion."""
    yield "isotonic"
    if len(labels.scales[criterion].steps) <= MANY_STEPS:
        yield "ordinal"
    yield "linear"
    if len(labels.criteria) > 1:
        yield "across"
    if PROBABILITIES in labels.judges:
        yield "probabilities"


def _count(labels: Labels, wishes: Wishes) -> int:
    """Return the largest possible number of comparisons, which is fixed before the first one."""
    juries = len(jury_module.KINDS) if wishes.jury and len(labels.members) > 1 else 0
    maps = sum(len(list(_kinds(labels, c))) for c in _scored(labels)) if wishes.calibration else 0
    return max(1, juries + maps + (3 if wishes.deferral else 0))


def _try_jury(
    labels: Labels,
    folds: Sequence[Fold],
    before: pd.DataFrame,
    comparisons: int,
    rows: list[Comparison],
) -> jury_module.Kind | None:
    """Return the kind of jury that beats the previous judge and the best single judge, or None if none does."""

    grids = [jury_module.judge_grids(fold.rest) for fold in folds]

    def lines_of(fit: Callable[..., Jury]) -> pd.DataFrame:
        tables = [
            Fitted(jury=fit(fold.rest, grids=grid)).apply(fold.own.judges)
            for fold, grid in zip(folds, grids, strict=True)
        ]
        return judged_lines(labels, join_tables(tables))

    best = lines_of(jury_module.fit_best_judge)
    tried = []
    for kind in jury_module.KINDS:
        after = lines_of(partial(jury_module.fit_jury, kind=kind))
        pair = [compare(JURY, kind, "", stood, after, comparisons) for stood in (before, best)]
        worse = max(pair, key=lambda c: np.inf if np.isnan(c.p_value) else c.p_value)
        tried.append((kind, worse))
    chosen = max((t for t in tried if t[1].kept), key=lambda t: t[1].gain, default=None)
    rows += [replace(c, kept=chosen is not None and kind == chosen[0]) for kind, c in tried]
    return chosen[0] if chosen else None


def _try_calibration(
    labels: Labels,
    stages: Sequence[Stage],
    before: pd.DataFrame,
    comparisons: int,
    rows: list[Comparison],
) -> dict[str, str]:
    """Return, for each criterion, the kind of map that helps most, if one helps by more than noise."""
    tried: dict[str, list[Comparison]] = {}
    for kind in calibration_module.KINDS:
        kinds = {c: kind for c in _scored(labels) if kind in _kinds(labels, c)}
        if not kinds:
            continue
        after = judged_lines(labels, _cross_calibrate(stages, kinds))
        for criterion in kinds:
            sides = [lines[lines["criterion"] == criterion] for lines in (before, after)]
            told = compare(CALIBRATION, kind, criterion, sides[0], sides[1], comparisons)
            tried.setdefault(criterion, []).append(told)
    chosen = {}
    for criterion, candidates in tried.items():
        best = max((c for c in candidates if c.kept), key=lambda c: c.gain, default=None)
        rows += [replace(c, kept=c is best) for c in candidates]
        if best:
            chosen[criterion] = best.candidate
    return chosen


def _try_deferral(lines: pd.DataFrame, comparisons: int, rows: list[Comparison]) -> Deferral | None:
    """Return a deferral threshold on the confidence that best predicts agreement, or None if no kind does."""
    tried = []
    bound = RATE / comparisons
    for kind in known_kinds(lines):
        told = separation(lines, kind)
        kept = bool(told.p_value < bound)
        row = Comparison(
            DEFERRAL,
            kind,
            "",
            told.gap,
            told.p_value,
            bound,
            kept,
            "" if kept else told_why(told.gap),
        )
        tried.append((kind, row))
    chosen: tuple[Confidence, Comparison] | None = max(
        (t for t in tried if t[1].kept), key=lambda t: t[1].gain, default=None
    )
    rows += [replace(c, kept=chosen is not None and kind == chosen[0]) for kind, c in tried]
    if chosen is None:
        return None
    return fit_deferral(lines, chosen[0], agreement=AGREEMENT, coverage=COVERAGE)
