"""The section on the criteria: the votes on the proposed ones, and the authors of the final wordings."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from coeval.stats.actions import ACTIONS, Rates, action_rates
from coeval.stats.agreement.alpha import krippendorff_alpha
from coeval.stats.agreement.coefficients import percent_agreement
from coeval.stats.estimates import FLAT, Estimate, Spelled
from coeval.stats.frames import StudyFrames
from coeval.stats.report.tables import Table, make_table


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
