"""The sections on people's work: votes, actions, score changes, time and distributions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from coeval.stats.actions import (
    ACTIONS,
    ActionRates,
    Outliers,
    Rates,
    ScoreChanges,
    TimeSpent,
    action_rates,
    against_majority,
    count_outliers,
    score_changes,
    time_spent,
)
from coeval.stats.agreement.alpha import krippendorff_alpha
from coeval.stats.agreement.coefficients import percent_agreement
from coeval.stats.estimates import FLAT, Estimate, Spelled
from coeval.stats.frames import ASSISTED, StudyFrames, is_planted
from coeval.stats.report.tables import Table, make_table


def actions_section(study: StudyFrames) -> ActionRates:
    """Return action rates on the drafted lines of assisted submissions, overall and by kind of line."""
    return action_rates(study.actions[study.actions["arm"] == ASSISTED])


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


def time_section(study: StudyFrames) -> TimeSpent:
    """Return seconds per criterion and minutes per sample, with and without idle time."""
    spent = time_spent(study.scores)
    order = {criterion: place for place, criterion in enumerate(study.criteria)}
    parts = sorted(spent.per_criterion, key=lambda part: order.get(part.criterion, len(order)))
    return replace(spent, per_criterion=parts)


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
    """The comparison of assisted scores with the majority of people without the draft, and score frequencies.

    ``against_majority`` has a row for each class of ``MAJORITY``. The frequencies are of people and of the
    shown run: ``distributions`` over all criteria, ``distributions_by_criterion`` over all systems.
    """

    against_majority: list[dict[str, Any]]
    outliers: Outliers
    distributions: list[Distribution]
    distributions_by_criterion: list[Distribution]


def behaviour_section(study: StudyFrames) -> BehaviourSection:
    """Return the comparison with the majority, and the score distributions."""
    sources = {"people": study.scored, "llm": study.shown_scores.rename("score").reset_index()}
    assisted = study.genuine[study.genuine["arm"] == ASSISTED]
    return BehaviourSection(
        against_majority(assisted, study.unaided),
        count_outliers(assisted, study.unaided, study.clusters),
        [row for source, frame in sources.items() for row in _distributions(study, source, frame)],
        [row for source, frame in sources.items() for row in _by_criterion(study, source, frame)],
    )


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


# The tables of these sections.


def actions_tables(section: ActionRates) -> list[Table]:
    """Return the table of the actions on drafted lines."""
    rows = [{"lines": lines, "n": rates.n, **rates.shares} for lines, rates in section.items()]
    return [
        make_table(
            "evaluation_actions",
            "Actions on drafted evaluations",
            "Shares of the lines of assisted submissions (paper, table 6).",
            rows,
            ("lines", "n", *ACTIONS),
        )
    ]


def score_change_tables(section: ScoreChangeSection) -> list[Table]:
    """Return the table of the changes of drafted scores."""
    change = section.overall
    rows = [{"criterion": part.criterion, **vars(part.changes)} for part in section.per_criterion]
    return [
        make_table(
            "score_changes",
            "Changes of the drafted scores",
            f"Assisted submissions with both scores; {change.n_left_out} without and "
            f"{section.n_planted_left_out} shown a wrong score on purpose are left out.",
            [*rows, {"criterion": "all", **vars(change)}],
            ("criterion", "n", "raised", "lowered", "unchanged", "mean_change"),
        )
    ]


def time_tables(section: TimeSpent) -> list[Table]:
    """Return the tables of seconds per criterion and of minutes per instance."""
    if not section.n_timed:
        return []
    criteria = [
        {"criterion": part.criterion, "n": part.n, **vars(part.seconds)} for part in section.per_criterion
    ]
    sample = section.minutes_per_sample
    row = {
        "samples": sample.n,
        "mean_minutes": sample.mean,
        "median_minutes": sample.median,
        "mean_minutes_up_to_15": sample.mean_up_to_15_minutes,
        "mean_minutes_up_to_30": sample.mean_up_to_30_minutes,
    }
    return [
        make_table(
            "time",
            "Seconds per criterion",
            f"{section.n_untimed} untimed submissions left out. Idle cut: spans up to "
            f"{section.seconds.idle_cut_seconds:g} s (paper, figure 8).",
            criteria,
            (
                "criterion",
                "n",
                "mean_seconds",
                "median_seconds",
                "mean_seconds_idle_cut",
                "mean_active_seconds",
            ),
        ),
        make_table(
            "time_per_sample",
            "Minutes per instance",
            "One person's whole work on one instance, its timed criteria together (paper, table 7).",
            [row],
            tuple(row),
        ),
    ]


def behaviour_tables(section: BehaviourSection) -> list[Table]:
    """Return the tables of the comparison with the majority and of the distributions."""
    outliers = section.outliers
    rarer = (
        f" Scores outside the majority: {float(outliers.assisted):.0%} with the draft, {float(outliers.unaided):.0%} "
        f"without it ({float(outliers.reduced.value):.0%} fewer)."
        if outliers.reduced.value.defined
        else ""
    )
    return [
        make_table(
            "against_majority",
            "Against the majority of people without the draft",
            "Assisted submissions on units on which more than half of the blind and first scores, and at least two, "
            f"are the same (the comparison of the paper's table 9).{rarer}",
            section.against_majority,
            ("behaviour", "n", "of", "rate"),
        ),
        _shares_table(
            "distributions",
            "Scores by source",
            "How often each score was given, over all criteria (paper, figures 6 and 7).",
            section.distributions,
            "system",
        ),
        _shares_table(
            "distributions_by_criterion",
            "Scores by source and criterion",
            "How often each score was given, over all systems (paper, figure 2).",
            section.distributions_by_criterion,
            "criterion",
        ),
    ]


def _shares_table(name: str, title: str, note: str, shares: Sequence[Distribution], by: str) -> Table:
    scores = sorted({score for row in shares for score in row.counts}, key=float)
    rows = [
        {**vars(row), "system": row.system or "all", **dict.fromkeys(scores, 0), **row.counts}
        for row in shares
    ]
    columns = ("source", by, "n", "mean", *scores) if len(scores) <= 20 else ("source", by, "n", "mean")
    return make_table(name, title, note, rows, columns)


# Votes on proposed criteria.


@dataclass(frozen=True)
class Voters:
    """The votes of all people or of one group; ``of`` names the group.

    ``alpha`` is nominal. Its units, and those of ``percent``, are proposed criteria, and its values are actions. Added
    criteria count for the rates alone.
    """

    of: str
    voters: int
    rates: Rates = field(metadata=FLAT)
    alpha: Spelled
    percent: Spelled


@dataclass(frozen=True)
class VotesSection:
    """The votes of every round that was not cancelled, and the final criteria that the model worded.

    ``everybody`` is None if nobody voted. ``on_this_version`` counts the people who voted on the version in force:
    without any, it was set without a vote.
    """

    everybody: Voters | None
    by_group: list[Voters]
    on_this_version: int
    final_criteria: int
    worded_by_model: Estimate


def votes_section(study: StudyFrames) -> VotesSection:
    """Return the rates of actions on proposed criteria and the agreement of voters (CoEval paper, table 5)."""
    votes, n = study.votes, len(study.criteria)
    drafted = len(study.drafted_criteria)
    return VotesSection(
        everybody=_voters("all", votes) if len(votes) else None,
        by_group=[_voters(str(group), part) for group, part in votes.groupby("group")],
        on_this_version=int(votes.loc[votes["version"] == study.version, "annotator"].nunique()),
        final_criteria=n,
        worded_by_model=Estimate(drafted / n, n=n)
        if n
        else Estimate.undefined("there are no final criteria"),
    )


def _voters(name: str, votes: pd.DataFrame) -> Voters:
    on_proposals = votes.dropna(subset=["proposal"])
    table = on_proposals.pivot(index="annotator", columns="proposal", values="action")
    details = ("n_units", "n_annotators")
    return Voters(
        name,
        votes["annotator"].nunique(),
        action_rates(votes)["overall"],
        Spelled(krippendorff_alpha(table, "nominal"), details),
        Spelled(percent_agreement(table), details),
    )


def votes_tables(section: VotesSection) -> list[Table]:
    """Return the table of the actions on proposed criteria, by group of voters."""
    several = section.by_group if len(section.by_group) > 1 else []
    parts = [section.everybody, *several] if section.everybody else []
    share = section.worded_by_model
    final = (
        f" The model worded {float(share):.0%} of {section.final_criteria} final criteria."
        if share.defined
        else ""
    )
    return [
        make_table(
            "criteria_actions",
            "Actions on proposed criteria",
            "Shares of all votes, and by group of voters; nominal alpha and percent agreement of their actions, with "
            f"proposed criteria as units (paper, table 5).{final}",
            [_row(part) for part in parts],
            ("voters", "people", "n", *ACTIONS, "alpha", "ci_low", "ci_high", "percent"),
        )
    ]


def _row(part: Voters) -> dict[str, Any]:
    return {
        "voters": part.of,
        "people": part.voters,
        "n": part.rates.n,
        **part.rates.shares,
        "alpha": part.alpha.value,
        "ci_low": part.alpha.get("ci_low"),
        "ci_high": part.alpha.get("ci_high"),
        "percent": part.percent.value,
    }
