"""The sections on people's work: actions, score changes, time, behaviour, and quotes of the drafts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from coeval.stats.actions import (
    ActionRates,
    FourBehaviours,
    Rates,
    ScoreChanges,
    action_rates,
    four_behaviours,
    score_changes,
)
from coeval.stats.estimates import FLAT, Estimate
from coeval.stats.frames import ASSISTED, QUOTE_COLUMNS, StudyFrames, is_planted
from coeval.stats.report.model_vs_people import choose_labels
from coeval.stats.times import TimeSpent, time_curve, time_spent


def actions_section(study: StudyFrames) -> ActionRates:
    """Return action rates on the drafted lines of assisted submissions, overall and by kind of line."""
    return action_rates(study.actions[study.actions["arm"] == ASSISTED])


def actions_by(study: StudyFrames, column: str) -> dict[str, Rates]:
    """Return action rates over all lines of assisted submissions, by ``criterion`` or ``annotator``."""
    assisted = study.actions[study.actions["arm"] == ASSISTED]
    return {str(name): action_rates(part).overall for name, part in assisted.groupby(column)}


def actions_by_criterion(study: StudyFrames) -> dict[str, Rates]:
    """Return action rates by criterion, in the order of the set."""
    rates = actions_by(study, "criterion")
    return {criterion: rates[criterion] for criterion in study.criteria if criterion in rates}


def actions_by_annotator(study: StudyFrames) -> dict[str, Rates]:
    """Return action rates by annotator."""
    return actions_by(study, "annotator")


@dataclass(frozen=True)
class CriterionChanges:
    """The score changes of one criterion."""

    criterion: str
    changes: ScoreChanges = field(metadata=FLAT)


@dataclass(frozen=True)
class ScoreChangeSection:
    """The changes that assisted people made to drafted scores."""

    overall: ScoreChanges = field(metadata=FLAT)
    n_planted_left_out: int
    per_criterion: list[CriterionChanges]


def score_change_section(study: StudyFrames) -> ScoreChangeSection:
    """Return assisted people's changes to drafted scores, without planted errors."""
    assisted = study.scores[study.scores["arm"] == ASSISTED]
    planted = is_planted(assisted)
    genuine = assisted[~planted]
    order = {criterion: place for place, criterion in enumerate(study.criteria)}
    parts = [
        CriterionChanges(str(criterion), score_changes(part["score"], part["draft_score"]))
        for criterion, part in genuine.groupby("criterion", sort=False)
    ]
    return ScoreChangeSection(
        overall=score_changes(genuine["score"], genuine["draft_score"]),
        n_planted_left_out=int(planted.sum()),
        per_criterion=sorted(parts, key=lambda part: order.get(part.criterion, len(order))),
    )


def score_moves(study: StudyFrames) -> pd.DataFrame:
    """Return how often assisted people changed each drafted score to each score: ``draft, person, n, share``.

    Drafted scores between two points (means of samples) are rounded, with halves rounded up. ``share`` is the share
    of all scores with this draft.
    """
    known = study.scores.dropna(subset=["score", "draft_score"])
    known = known[(known["arm"] == ASSISTED) & ~is_planted(known)]
    known = known.assign(draft=np.floor(known["draft_score"] + 0.5), person=known["score"])
    if known.empty:
        return pd.DataFrame(columns=["draft", "person", "n", "share"])
    points = sorted({*(study.points() or ()), *known["draft"], *known["person"]})
    cells = pd.MultiIndex.from_product([points, points], names=["draft", "person"])
    frame = known.groupby(["draft", "person"]).size().reindex(cells, fill_value=0).reset_index(name="n")
    totals = frame.groupby("draft")["n"].transform("sum")
    return frame.assign(share=(frame["n"] / totals.where(totals > 0)).fillna(0.0))


@dataclass(frozen=True)
class PartTime:
    """Seconds per submission of one annotator or one arm, named by ``label``."""

    label: Mapping[str, Any] = field(metadata=FLAT)
    n: int
    mean_seconds: float
    median_seconds: float

    @property
    def name(self) -> str:
        return str(next(iter(self.label.values())))


@dataclass(frozen=True)
class TimeSection:
    """The working time of people."""

    spent: TimeSpent = field(metadata=FLAT)
    per_annotator: list[PartTime]
    per_arm: list[PartTime]


def time_section(study: StudyFrames) -> TimeSection:
    """Return seconds per criterion and minutes per sample, with and without idle time, and by annotator and arm."""
    spent = time_spent(study.scores)
    order = {criterion: place for place, criterion in enumerate(study.criteria)}
    parts = sorted(spent.per_criterion, key=lambda part: order.get(part.criterion, len(order)))
    by_annotator, by_arm = (_times_by(study.scores, column) for column in ("annotator", "arm"))
    return TimeSection(replace(spent, per_criterion=parts), by_annotator, by_arm)


def _times_by(scores: pd.DataFrame, column: str) -> list[PartTime]:
    return [
        PartTime(
            {column: name},
            int(part["wall_seconds"].notna().sum()),
            float(part["wall_seconds"].astype(float).mean()),
            float(part["wall_seconds"].astype(float).median()),
        )
        for name, part in scores.groupby(column)
    ]


def time_curves(study: StudyFrames) -> pd.DataFrame:
    """Return the share of submissions done within each number of seconds, by criterion."""
    timed = study.scores[study.scores["wall_seconds"] > 0]
    curves = [
        time_curve(timed.loc[timed["criterion"] == criterion, "wall_seconds"]).assign(criterion=criterion)
        for criterion in study.criteria
    ]
    return pd.concat([pd.DataFrame(columns=["criterion", "seconds", "share"]), *curves])


@dataclass(frozen=True)
class Distribution:
    """The frequencies of scores from one source, for one system or all (None), and for one criterion or all."""

    source: str
    system: str | None
    n: int
    mean: Estimate
    counts: Mapping[str, int]
    criterion: str | None = None


@dataclass(frozen=True)
class BehaviourSection:
    """The four behaviours, and the frequencies of scores by people and by the shown run.

    ``distributions`` are over all criteria, ``distributions_by_criterion`` over all systems.
    """

    behaviours: FourBehaviours = field(metadata=FLAT)
    distributions: list[Distribution]
    distributions_by_criterion: list[Distribution]


def behaviour_section(study: StudyFrames) -> BehaviourSection:
    """Return the four behaviours and score distributions."""
    sources = {"people": study.scored, "llm": study.shown_scores.rename("score").reset_index()}
    return BehaviourSection(
        four_behaviours(study.scores),
        [row for source, frame in sources.items() for row in _distributions(study, source, frame)],
        [row for source, frame in sources.items() for row in _by_criterion(study, source, frame)],
    )


def compared_distributions(study: StudyFrames) -> list[Distribution]:
    """Return the frequencies of the people's scores that the model is compared with, and of the shown run."""
    model = study.shown_scores.rename("score").reset_index()
    return [
        *_distributions(study, "llm", model),
        *_distributions(study, "people", choose_labels(study).scored),
    ]


def _distributions(study: StudyFrames, source: str, frame: pd.DataFrame) -> list[Distribution]:
    """Return the frequency of each score, overall (system None) and by system."""
    if not len(frame):
        return []
    parts: list[tuple[str | None, pd.Series[float]]] = [(None, frame["score"])]
    systems = study.units["system"].replace("", None).to_numpy()[frame["unit"].to_numpy()]
    parts += [(str(name), part) for name, part in frame["score"].groupby(systems, sort=False)]
    return [
        Distribution(source, system, len(values), Estimate(values.mean()), _counts(values))
        for system, values in parts
    ]


def _by_criterion(study: StudyFrames, source: str, frame: pd.DataFrame) -> list[Distribution]:
    places = frame["unit"].to_numpy(dtype=np.int64) % max(len(study.criteria), 1)
    return [
        Distribution(source, None, len(values), Estimate(values.mean()), _counts(values), criterion)
        for place, criterion in enumerate(study.criteria)
        if len(values := frame["score"][places == place])
    ]


def _counts(values: pd.Series[float]) -> dict[str, int]:
    return {f"{score:g}": int(n) for score, n in values.value_counts().sort_index().items()}


@dataclass(frozen=True)
class Quoted:
    """The number of passages that drafts quote, and the number and share of those not in the output.

    ``in_input`` of the missing passages are in the input. ``nearly`` counts passages that differ from the output by
    about a word. ``unquoted`` counts lines of ``evidence`` without a quote.
    """

    n: int
    not_found: int
    share: Estimate
    nearly: int
    in_input: int
    evidence: int
    unquoted: int


@dataclass(frozen=True)
class QuotedCriterion:
    """The passages quoted for one criterion."""

    criterion: str
    quoted: Quoted = field(metadata=FLAT)


@dataclass(frozen=True)
class QuotedRun:
    """The passages quoted by one run."""

    run: str
    label: str
    quoted: Quoted = field(metadata=FLAT)
    per_criterion: list[QuotedCriterion]


@dataclass(frozen=True)
class QuotesSection:
    """The passages quoted by all runs, and by each run."""

    quoted: Quoted = field(metadata=FLAT)
    per_run: list[QuotedRun]


def quotes_section(study: StudyFrames) -> QuotesSection:
    """Return the number of quoted passages and the share not in the output: overall, by run and by criterion."""
    runs = [
        QuotedRun(
            str(run),
            str(part["run_label"].iloc[0]),
            _quoted(part),
            [
                QuotedCriterion(str(criterion), _quoted(own))
                for criterion, own in part.groupby("criterion", sort=False)
            ],
        )
        for run, part in study.quotes.groupby("run", sort=False)
    ]
    return QuotesSection(_quoted(study.quotes), runs)


def _quoted(part: pd.DataFrame) -> Quoted:
    n, lost, nearly, in_input, evidence, unquoted = (int(part[name].sum()) for name in QUOTE_COLUMNS[3:])
    share = Estimate(lost / n, n=n) if n else Estimate.undefined("no draft quotes the text")
    return Quoted(n, lost, share, nearly, in_input, evidence, unquoted)
