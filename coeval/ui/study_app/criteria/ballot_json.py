"""A ballot, and an owner's decisions on the count, as the sheets that the browser's table takes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from coeval.domain import Action, Ballot, Proposal, Vote
from coeval.language import tr
from coeval.rules.ballots import ProposalTally, Tally, Wording
from coeval.study.criteria.rounds import RoundState
from coeval.ui.components.payloads import LIMITS
from coeval.ui.study_app.criteria.criteria_views import words_of

Json = dict[str, Any]


def ballot_json(round_: RoundState) -> Json:
    """A person's ballot: a row per proposal with their vote, then the criteria they added."""
    votes = round_.ballot.votes if round_.ballot else ()
    mine = {vote.proposal: vote for vote in votes if vote.proposal is not None}
    return _sheet(
        round_,
        revision=round_.ballot.revision if round_.ballot else 0,
        saved_at=round_.ballot.saved_at if round_.ballot else "",
        reason_required=True,
        confirm={"label": tr("Save ballot"), "keyed": True},
        rows=[_proposal_row(proposal, round_, mine.get(proposal.id)) for proposal in round_.proposals],
        added=[_added_row(vote.new_text, vote.reason) for vote in votes if vote.action is Action.ADD],
    )


def decisions_json(round_: RoundState, tally: Tally) -> Json:
    """What the votes come to, for the owner to settle: ties are left open, one wording is filled in."""
    return _sheet(
        round_,
        revision=tally.saves,
        saved_at="",
        reason_required=False,
        # what cannot be taken back is not done by a key
        confirm={"label": "Establish criteria set", "keyed": False},
        rows=[_decision_row(one) for one in tally.proposals],
        added=[_added_row(one.text, f"added by {one.person}") for one in tally.added],
    )


def _sheet(round_: RoundState, **fields: Any) -> Json:
    return {
        "round": round_.id,
        "limits": LIMITS,
        "add": {"label": tr("Add a criterion"), "key": "N", "kind": "criterion"},
        "counted": "criterion",
        "scale": None,
        "draft_score": None,
        "score": None,
        **fields,
    }


def _proposal_row(proposal: Proposal, round_: RoundState, vote: Vote | None) -> Json:
    merged = [text for text in proposal.members if text != proposal.text]
    worded = tr("also worded: {texts}", texts=" / ".join(merged)) if merged else ""
    return {
        "id": proposal.id,
        "kind": "criterion",
        "label": _support(proposal, round_),
        "text": proposal.text,
        "quotes": [],
        "note": " · ".join(part for part in (proposal.note, worded) if part),
        "action": vote.action if vote else None,
        "reason": vote.reason if vote else "",
        "new_text": vote.new_text if vote else "",
    }


def _support(proposal: Proposal, round_: RoundState) -> str:
    if proposal.samples > 1:
        return tr("{n} of {total}", n=proposal.support, total=proposal.samples)
    if proposal.kept_criterion is not None:
        return tr("from version {version}", version=round_.version - 1)
    return tr("written") if proposal.origin == "human" else tr("drafted")


def _decision_row(tallied: ProposalTally) -> Json:
    wordings = [f"“{wording.text}” ({wording.person}: {wording.reason})" for wording in tallied.wordings]
    reasons = [_reason(wording) for wording in tallied.reasons if wording.text != Action.REVISE]
    revised = tallied.outcome is Action.REVISE and tallied.wordings
    return {
        "id": tallied.proposal.id,
        "kind": "criterion",
        "label": "tie" if tallied.tied else tallied.outcome or "no votes",
        "text": tallied.proposal.text,
        "quotes": [],
        "note": " · ".join([words_of(tallied.rates), *wordings, *reasons]),
        "action": tallied.outcome,
        "reason": "",
        "new_text": tallied.wordings[0].text if revised else "",
    }


def _reason(wording: Wording) -> str:
    return f"{wording.person}, {wording.text}: {wording.reason}"


def _added_row(text: str, reason: str) -> Json:
    return {"kind": "criterion", "new_text": text, "reason": reason}


def history_json(round_: RoundState, versions: Iterable[Ballot]) -> list[Json]:
    """Everything a person saved of their ballot, version after version."""
    texts = {proposal.id: proposal.text for proposal in round_.proposals}
    return [
        {
            "revision": version.revision,
            "saved_at": version.saved_at,
            "lines": [_vote_line(texts, vote) for vote in version.votes],
        }
        for version in versions
    ]


def _vote_line(texts: dict[int, str], vote: Vote) -> Json:
    label = tr("Added criterion") if vote.proposal is None else texts.get(vote.proposal, "")
    return {"label": label, "action": vote.action, "text": vote.new_text, "reason": vote.reason}
