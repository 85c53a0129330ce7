"""Ballots and the owner's decisions as tables: domain objects to DataFrames and back."""

from __future__ import annotations

from typing import Any

import pandas as pd

from coeval.domain import Action, Proposal, Vote
from coeval.errors import InputError
from coeval.rules.ballots import ProposalTally, Tally
from coeval.study.criteria.rounds import RoundState
from coeval.ui.components.review_table.sheet import COLUMNS
from coeval.ui.study_app.criteria.criteria_views import words_of


def ballot_frame(round_: RoundState, key: str) -> pd.DataFrame:
    """A person's ballot: a row per proposal, then the criteria they added."""
    votes = round_.ballot.votes if round_.ballot else ()
    mine = {vote.proposal: vote for vote in votes if vote.proposal is not None}
    rows = [_proposal_row(proposal, mine.get(proposal.id)) for proposal in round_.proposals]
    rows += [_added_row(vote.new_text, vote.reason) for vote in votes if vote.action is Action.ADD]
    rev = round_.ballot.revision if round_.ballot else 0
    return _frame(rows, rev=rev, key=key, reason_required=True, confirm={"label": "Save ballot"})


def _frame(rows: list[list[Any]], **attrs: Any) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=COLUMNS)
    add = {"label": "Add a criterion", "key": "N", "kind": "criterion"}
    frame.attrs.update(add=add, counted=("criterion", "criteria"), **attrs)
    return frame


def _proposal_row(proposal: Proposal, vote: Vote | None) -> list[Any]:
    merged = [text for text in proposal.members if text != proposal.text]
    worded = "also worded: " + " / ".join(merged) if merged else ""
    note = " · ".join(part for part in (proposal.note, worded) if part)
    action, reason, new_text = (vote.action, vote.reason, vote.new_text) if vote else (None, "", "")
    return [proposal.id, "criterion", _support(proposal), proposal.text, note, action, reason, new_text]


def _support(proposal: Proposal) -> str:
    if proposal.samples > 1:
        return f"{proposal.support} of {proposal.samples}"
    if proposal.kept_criterion is not None:
        return "kept"
    return "written" if proposal.origin == "human" else "drafted"


def _added_row(text: str, reason: str) -> list[Any]:
    return [None, "criterion", "added", "", "", Action.ADD, reason, text]


def read_votes(table: pd.DataFrame) -> list[Vote]:
    """The votes of a ballot that came back from the browser.

    Raises:
        InputError: a proposal has no action yet.
    """
    open_ = int((table["action"].isna() | (table["action"] == "")).sum())
    if open_:
        lines = "1 criterion still needs" if open_ == 1 else f"{open_} criteria still need"
        raise InputError(f"{lines} a decision: approve, revise or delete.")
    return [
        Vote(
            Action(row["action"]),
            None if pd.isna(row["id"]) else int(row["id"]),
            row["reason"],
            row["new_text"],
        )
        for row in table.to_dict("records")
    ]


def decisions_frame(tally: Tally, key: str) -> pd.DataFrame:
    """What the votes come to, for the owner to settle: ties are left open, one wording is filled in."""
    rows = [_decision_row(one) for one in tally.proposals]
    rows += [_added_row(one.text, f"added by {one.person}") for one in tally.added]
    return _frame(rows, rev=tally.n_ballots, key=f"{key}:{tally.n_ballots}", reason_required=False)


def _decision_row(one: ProposalTally) -> list[Any]:
    wordings = [f"“{wording.text}” ({wording.person}: {wording.reason})" for wording in one.wordings]
    reasons = [f"{w.person}, {w.text}: {w.reason}" for w in one.reasons if w.text != Action.REVISE]
    note = " · ".join([words_of(one.rates), *wordings, *reasons])
    new_text = one.wordings[0].text if one.outcome is Action.REVISE and one.wordings else ""
    label = "tie" if one.tied else one.outcome or "no votes"
    return [one.proposal.id, "criterion", label, one.proposal.text, note, one.outcome, "", new_text]


def read_decisions(table: pd.DataFrame) -> dict[str, Any]:
    """The owner's decisions as ``study.criteria.establish`` takes them.

    Raises:
        InputError: a tie is still open.
    """
    decided: dict[int, str] = {}
    dropped: list[int] = []
    approved: list[int] = []
    added: list[str] = []
    for row in table.to_dict("records"):
        if pd.isna(row["id"]):
            added.append(row["new_text"])
        elif row["action"] == Action.DELETE:
            dropped.append(int(row["id"]))
        elif row["action"] == Action.REVISE:
            decided[int(row["id"])] = row["new_text"]
        elif row["action"] == Action.APPROVE:
            approved.append(int(row["id"]))
        else:
            raise InputError("A tie is still open: approve, revise or delete it, then establish the set.")
    return {"decisions": decided, "approved": approved, "dropped": dropped, "added": added}
