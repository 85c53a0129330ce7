"""Votes on criteria: check ballots, count votes, and compute the result of a round.

Pure. An evaluator approves, deletes or revises every proposal and may add criteria. For each proposal the
action with the most votes wins, and the owner breaks ties (CoEval paper, stage 1).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from coeval.domain import MAX_ADDED, MAX_REMARK, Action, Ballot, Origin, Proposal, Vote
from coeval.errors import InputError
from coeval.folded_text import normalize_name
from coeval.language import tr, trn

ON_A_PROPOSAL = (Action.APPROVE, Action.REVISE, Action.DELETE)


def same_words(text: str) -> str:
    """Return a wording's letters and digits, without case and spacing, for comparison with other wordings."""
    return " ".join("".join(c if c.isalnum() else " " for c in text.casefold()).split())


def check_ballot(proposals: Sequence[Proposal], votes: Sequence[Vote]) -> tuple[Vote, ...]:
    """Return the ballot in the order of the proposals, added criteria last, with texts stripped.

    Raises:
        InputError: a proposal has no vote or two; a reason or a new wording is missing; an added criterion
            repeats another; a text is longer than ``MAX_REMARK`` characters.
    """
    votes = [_stripped(vote) for vote in votes]
    by_proposal = {vote.proposal: vote for vote in votes if vote.proposal is not None}
    proposed = {proposal.id for proposal in proposals}
    if len(by_proposal) < sum(vote.proposal is not None for vote in votes) or by_proposal.keys() - proposed:
        raise InputError(
            tr("This ballot does not match the proposals of this round: reload the page and vote again.")
        )
    missing = [p.text for p in proposals if p.id not in by_proposal]
    if missing:
        raise InputError(
            trn(
                "“{text}” still needs a decision: approve, revise or delete.",
                "“{text}” and {more} more still need a decision: approve, revise or delete.",
                len(missing),
                text=_short(missing[0]),
                more=len(missing) - 1,
            )
        )
    ordered = [_check_vote(proposal, by_proposal[proposal.id]) for proposal in proposals]
    added = [vote for vote in votes if vote.proposal is None]
    _check_added(proposals, added)
    return (*ordered, *added)


def _stripped(vote: Vote) -> Vote:
    for text in (vote.reason, vote.new_text):
        if len(text) > MAX_REMARK:
            raise InputError(
                tr(
                    "“{text}” has {length} characters; shorten it to {limit}.",
                    text=_short(text),
                    length=f"{len(text):,}",
                    limit=f"{MAX_REMARK:,}",
                )
            )
    return Vote(vote.action, vote.proposal, vote.reason.strip(), normalize_name(vote.new_text))


def _check_vote(proposal: Proposal, vote: Vote) -> Vote:
    if vote.action not in ON_A_PROPOSAL:
        raise InputError(
            tr(
                "“{text}” can be approved, revised or deleted, not “{action}”.",
                text=_short(proposal.text),
                action=vote.action,
            )
        )
    if vote.action is Action.APPROVE:
        return Vote(Action.APPROVE, proposal.id)
    if not vote.reason:
        ask = (
            tr("Say why you delete “{text}”: a few words are enough.", text=_short(proposal.text))
            if vote.action is Action.DELETE
            else tr("Say why you revise “{text}”: a few words are enough.", text=_short(proposal.text))
        )
        raise InputError(ask)
    if vote.action is Action.DELETE:
        return Vote(Action.DELETE, proposal.id, vote.reason)
    if not vote.new_text or same_words(vote.new_text) == same_words(proposal.text):
        raise InputError(
            tr(
                "Write the new wording of “{text}”, or approve it as it is.",
                text=_short(proposal.text),
            )
        )
    return vote


def _check_added(proposals: Sequence[Proposal], added: Sequence[Vote]) -> None:
    if len(added) > MAX_ADDED:
        raise InputError(
            tr(
                "A ballot can add at most {limit} criteria; this one adds {n}: remove some.",
                limit=MAX_ADDED,
                n=len(added),
            )
        )
    seen = {same_words(proposal.text) for proposal in proposals}
    for vote in added:
        if vote.action is not Action.ADD or not vote.new_text:
            raise InputError(tr("An added criterion is empty: write it, or remove the line."))
        if same_words(vote.new_text) in seen:
            raise InputError(
                tr(
                    "“{text}” is already on the ballot: remove the line you added.",
                    text=_short(vote.new_text),
                )
            )
        seen.add(same_words(vote.new_text))


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:59].rstrip() + "…"


@dataclass(frozen=True, slots=True)
class ActionRates:
    """The share of each action among ``n`` votes. Shares sum to 1, or are all 0 if n is 0."""

    n: int
    approve: float
    revise: float
    delete: float
    add: float


@dataclass(frozen=True, slots=True)
class Wording:
    """A wording that people wrote, as a revision or an added criterion; ``voters`` counts them."""

    text: str
    person: str
    reason: str
    voters: int = 1


@dataclass(frozen=True, slots=True)
class ProposalTally:
    """The votes on one proposal. For a tie, ``outcome`` is None and ``tied`` contains the tied actions."""

    proposal: Proposal
    rates: ActionRates
    outcome: Action | None
    tied: tuple[Action, ...]
    wordings: tuple[Wording, ...]
    reasons: tuple[Wording, ...]


@dataclass(frozen=True, slots=True)
class Tally:
    """The count of a round: the proposals, the added criteria, and rates overall and by group.

    ``saves`` is the number of times that ballots were saved, which grows with every changed vote. ``waiting``
    are the people who may vote and have not.
    """

    proposals: tuple[ProposalTally, ...]
    added: tuple[Wording, ...]
    overall: ActionRates
    by_group: Mapping[str, ActionRates]
    n_ballots: int
    saves: int = 0
    waiting: tuple[str, ...] = ()

    def is_backed(self, added: Wording) -> bool:
        """Return whether more than half of the voters added this criterion."""
        return 2 * added.voters > self.n_ballots


def rate(actions: Iterable[Action]) -> ActionRates:
    """Return the action rates (CoEval paper, Table 5).

    >>> rate([Action.APPROVE, Action.APPROVE, Action.DELETE, Action.ADD]).approve
    0.5
    """
    counts = Counter(actions)
    n = sum(counts.values())
    return ActionRates(n, **{action.value: counts[action] / n if n else 0.0 for action in Action})


def tally(proposals: Sequence[Proposal], ballots: Sequence[Ballot]) -> Tally:
    """Count the ballots of a round. Each ballot has one vote for every proposal (see ``check_ballot``)."""
    votes = [(ballot, vote) for ballot in ballots for vote in ballot.votes]
    groups = {ballot.group for ballot in ballots}
    return Tally(
        proposals=tuple(_tally_proposal(proposal, votes) for proposal in proposals),
        added=_merge_added(votes),
        overall=rate(vote.action for _, vote in votes),
        by_group={
            group: rate(vote.action for ballot, vote in votes if ballot.group == group)
            for group in sorted(groups)
        },
        n_ballots=len(ballots),
        saves=sum(ballot.revision for ballot in ballots),
    )


def _tally_proposal(proposal: Proposal, votes: Sequence[tuple[Ballot, Vote]]) -> ProposalTally:
    mine = [(ballot, vote) for ballot, vote in votes if vote.proposal == proposal.id]
    counts = Counter(vote.action for _, vote in mine)
    most = max(counts.values(), default=0)
    tied = tuple(action for action in ON_A_PROPOSAL if counts[action] == most) if most else ()
    return ProposalTally(
        proposal=proposal,
        rates=rate(vote.action for _, vote in mine),
        outcome=tied[0] if len(tied) == 1 else None,
        tied=tied if len(tied) > 1 else (),
        wordings=tuple(Wording(v.new_text, b.person, v.reason) for b, v in mine if v.action is Action.REVISE),
        reasons=tuple(Wording(v.action, b.person, v.reason) for b, v in mine if v.reason),
    )


def _merge_added(votes: Sequence[tuple[Ballot, Vote]]) -> tuple[Wording, ...]:
    added: dict[str, dict[str, Wording]] = {}
    for ballot, vote in votes:
        if vote.action is Action.ADD:
            by_person = added.setdefault(same_words(vote.new_text), {})
            by_person.setdefault(ballot.person, Wording(vote.new_text, ballot.person, vote.reason))
    return tuple(replace(next(iter(wordings.values())), voters=len(wordings)) for wordings in added.values())


@dataclass(frozen=True, slots=True)
class Chosen:
    """One criterion of the next set: its wording, and the proposal, if any, that it keeps or rewords."""

    text: str
    origin: Origin
    proposal: Proposal | None = None


def choose(
    count: Tally,
    decisions: Mapping[int, str],
    added: Sequence[str],
    *,
    approved: Iterable[int] = (),
    dropped: Iterable[int] = (),
) -> tuple[Chosen, ...]:
    """Return the criteria that result from a round.

    The owner may decide any proposal, by its id: ``decisions`` gives a wording, ``approved`` keeps it
    unchanged, ``dropped`` leaves it out; ``added`` are the added criteria to include. Other proposals follow
    the majority, and a majority for ``revise`` needs agreement on one wording.

    Raises:
        InputError: a tie or a choice between wordings is undecided; nothing is left; two criteria are the
            same.
    """
    as_is = {t.proposal.id: t.proposal.text for t in count.proposals}
    settled = dict(decisions) | {proposal: as_is.get(proposal, "") for proposal in approved}
    left = [tally for tally in count.proposals if tally.proposal.id not in set(dropped)]
    chosen = [_choose_wording(tally, settled.get(tally.proposal.id)) for tally in left]
    kept = [criterion for criterion in chosen if criterion is not None]
    kept += [Chosen(text, Origin.HUMAN) for addition in added if (text := normalize_name(addition))]
    if not kept:
        raise InputError("No criterion is left: keep or add at least one before establishing the set.")
    repeated = [
        text for text, n in Counter(same_words(criterion.text) for criterion in kept).items() if n > 1
    ]
    if repeated:
        raise InputError(f"“{_short(repeated[0])}” would be in the set twice: drop or reword one of the two.")
    return tuple(kept)


def _choose_wording(count: ProposalTally, decision: str | None) -> Chosen | None:
    proposal = count.proposal
    if decision is not None and decision.strip():
        text = normalize_name(decision)
        return (
            Chosen(proposal.text, proposal.origin, proposal)
            if text == proposal.text
            else Chosen(text, Origin.HUMAN, proposal)
        )
    if count.rates.n and count.outcome is None:
        tied = " or ".join(count.tied)
        raise InputError(
            f"“{_short(proposal.text)}” is a tie, {tied}: decide it before establishing the set."
        )
    if count.outcome is Action.DELETE:
        return None
    wordings = {same_words(wording.text): wording.text for wording in count.wordings}
    if count.outcome is Action.REVISE and len(wordings) > 1:
        raise InputError(f"“{_short(proposal.text)}” has {len(wordings)} new wordings: choose or write one.")
    if count.outcome is Action.REVISE:
        return Chosen(next(iter(wordings.values())), Origin.HUMAN, proposal)
    return Chosen(proposal.text, proposal.origin, proposal)
