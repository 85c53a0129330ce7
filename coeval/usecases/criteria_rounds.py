"""Stage 1: proposals, ballots, the tally, and the resulting criteria set."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from coeval.domain import (
    HISTORY_PAGE,
    NEWEST,
    Ballot,
    CriteriaSet,
    Criterion,
    Person,
    Proposal,
    Task,
    Vote,
)
from coeval.errors import InputError, NotFoundError, StaleError
from coeval.folded_text import compose, normalize_name
from coeval.language import later, tr
from coeval.rules import ballots
from coeval.rules.ballots import Tally
from coeval.store import Database
from coeval.store.queries import assignments, criteria, teams
from coeval.store.queries.people import list_members
from coeval.usecases.access import EVERYONE, OWNERS, Context, require_task, use_case


@dataclass(frozen=True, slots=True)
class RoundState:
    """A person's view of the vote: the newest round and their own ballot in it.

    ``open`` is False once the round's version is established; ``ballot`` is None before the first save.
    """

    id: int
    version: int
    round: int
    open: bool
    proposals: tuple[Proposal, ...]
    ballot: Ballot | None


@use_case(EVERYONE)
def get_round(context: Context, person: Person, slug: str) -> RoundState | None:
    """Return the proposals of the newest round and the person's own ballot."""
    with context.store.read() as db:
        return find_state(db, require_task(db, slug), person)


def find_state(db: Database, task: Task, person: Person) -> RoundState | None:
    head = criteria.get_round(db, task.id)
    if head is None:
        return None
    mine = criteria.list_ballots(db, head["id"], person=person.id)
    return RoundState(
        id=head["id"],
        version=head["version"],
        round=head["round"],
        open=bool(head["open"]),
        proposals=tuple(criteria.list_proposals(db, head["id"])),
        ballot=mine[0] if mine else None,
    )


ROUND_OVER = later("This round of voting has ended: reload the page to see the current criteria.")


@use_case(EVERYONE)
def cast_ballot(
    context: Context,
    person: Person,
    slug: str,
    revision: int,
    votes: Sequence[Vote],
    *,
    round_id: int | None = None,
) -> Ballot:
    """Save the person's ballot.

    ``revision`` is the revision of the ballot that the votes change, 0 for the first; ``round_id`` is the
    round that was shown. If the browser repeats a save because no answer came, the saved ballot is returned.

    Raises:
        StaleError: no vote is open any more, or another tab has saved this ballot meanwhile.
        InputError: a vote is missing, incomplete or from another round (see ``ballots.check_ballot``).
    """
    with context.store.write() as db:
        state = find_state(db, require_task(db, slug), person)
        if state is None or not state.open or round_id not in (None, state.id):
            raise StaleError(tr(ROUND_OVER))
        checked = ballots.check_ballot(state.proposals, votes)
        saved = state.ballot.revision if state.ballot else 0
        if state.ballot and saved == revision + 1 and state.ballot.votes == checked:
            return state.ballot
        if saved != revision:
            raise StaleError(
                tr(
                    "Another tab has saved your ballot. Nothing was overwritten: compare the two versions "
                    "and save the one to keep."
                )
            )
        saved_at = criteria.record_ballot(db, state.id, person.id, checked, saved + 1)
    return Ballot(person.name, checked, revision=saved + 1, saved_at=saved_at)


@use_case(EVERYONE)
def list_ballot_history(context: Context, person: Person, slug: str, before: int = NEWEST) -> list[Ballot]:
    """Return the versions of the person's own ballot in the newest round, oldest first.

    The result is one page: the last versions below the revision ``before``.
    """
    with context.store.read() as db:
        head = criteria.get_round(db, require_task(db, slug).id)
        return criteria.list_ballot_versions(db, head["id"], person, before, HISTORY_PAGE) if head else []


@use_case(OWNERS)
def open_round(
    context: Context,
    person: Person,
    slug: str,
    proposals: Sequence[Proposal],
    *,
    instead_of: int | None = None,
) -> RoundState:
    """Open a vote on criteria, in the next round or for the next version.

    ``instead_of`` is the id of the open round that this vote replaces. Its ballots stay on record, and
    ``take_up_round`` opens it again.

    Raises:
        InputError: there is nothing to vote on, two proposals have the same wording, or another vote is open.
    """
    with context.store.write() as db:
        task = require_task(db, slug)
        current = criteria.get_criteria_set(db, task.id)
        marked = _check_proposals(proposals, current)
        require_no_other_vote(db, task, instead_of)
        criteria.add_round(db, task.id, get_next_version(db, task), marked)
        state = find_state(db, task, person)
    assert state is not None
    return state


def _check_proposals(proposals: Sequence[Proposal], current: CriteriaSet | None) -> list[Proposal]:
    kept = {compose(criterion.text): criterion for criterion in current.criteria} if current else {}
    marked = [_mark(proposal, kept.get(compose(proposal.text))) for proposal in proposals]
    marked = [proposal for proposal in marked if proposal.text]
    if not marked:
        raise InputError("There is no criterion to vote on: draft some, or write one per line.")
    if len({ballots.same_words(proposal.text) for proposal in marked}) < len(marked):
        raise InputError("Two of these criteria are the same: remove one before you open the vote.")
    return marked


def require_no_other_vote(
    db: Database, task: Task, instead_of: int | None = None, *, unvoted: bool = False
) -> None:
    """Raise InputError if a vote is open other than ``instead_of``; with ``unvoted``, only if somebody voted."""
    head = criteria.get_round(db, task.id)
    if head is None or not head["open"] or head["id"] == instead_of:
        return
    cast = len(criteria.list_ballots(db, head["id"]))
    if cast or not unvoted:
        raise InputError(
            f"A vote on version {head['version']} is open (round {head['round']}, ballots: {cast}), and it is not "
            "replaced: finalise it or cancel it first."
        )


def get_next_version(db: Database, task: Task) -> int:
    """Return the version that the next criteria set will have."""
    current = criteria.get_criteria_set(db, task.id)
    return current.version + 1 if current else 1


def receive_draft(
    db: Database, person: Person, task: Task, proposals: Sequence[Proposal], version: int
) -> RoundState | None:
    """Open a vote on drafted criteria, and return it. If people decided something meanwhile, keep the draft as
    a list of suggestions and return None.

    ``version`` is the version of the criteria set for which the draft was requested. A draft can take many
    minutes: a vote that is open when it arrives stays as it is, and no vote opens after a set was finalised.
    """
    current, following = criteria.get_criteria_set(db, task.id), get_next_version(db, task)
    head = criteria.get_round(db, task.id)
    waits = following != version or bool(head and head["open"])
    criteria.add_round(db, task.id, following, _check_proposals(proposals, current), waits=waits)
    return None if waits else find_state(db, task, person)


@dataclass(frozen=True, slots=True)
class OtherRound:
    """A round of the next version that is not open: it was cancelled or replaced, or it waits as a suggestion."""

    id: int
    round: int
    waits: bool
    n_ballots: int
    proposals: tuple[Proposal, ...]


@use_case(OWNERS)
def list_other_rounds(context: Context, person: Person, slug: str) -> list[OtherRound]:
    """Return the rounds of the next version that ``take_up_round`` can open."""
    with context.store.read() as db:
        return find_other_rounds(db, require_task(db, slug))


def find_other_rounds(db: Database, task: Task) -> list[OtherRound]:
    head = criteria.get_round(db, task.id)
    return [
        OtherRound(
            row["id"],
            row["round"],
            bool(row["waits"]),
            row["ballots"],
            tuple(criteria.list_proposals(db, row["id"])),
        )
        for row in criteria.list_rounds(db, task.id, get_next_version(db, task))
        if head is None or row["id"] != head["id"]
    ]


@use_case(OWNERS)
def take_up_round(
    context: Context, person: Person, slug: str, round_id: int, *, instead_of: int | None = None
) -> RoundState:
    """Open a round again that was cancelled or replaced, with its ballots, or open a list of suggestions.

    ``instead_of`` is the open round that it replaces.

    Raises:
        NotFoundError: it is not a round of the next version.
        InputError: another vote is open.
    """
    with context.store.write() as db:
        task = require_task(db, slug)
        if round_id not in {other.id for other in find_other_rounds(db, task)}:
            raise NotFoundError(
                "That vote cannot be taken up again: reload the page to see the current votes."
            )
        require_no_other_vote(db, task, instead_of)
        criteria.cancel_rounds(db, task.id, get_next_version(db, task), person.name)
        criteria.take_up_round(db, round_id, person.name)
        state = find_state(db, task, person)
    assert state is not None
    return state


def _mark(proposal: Proposal, kept: Criterion | None) -> Proposal:
    """Return the proposal with its text in normal Unicode form, but a criterion of the set unchanged."""
    if kept:
        return replace(proposal, text=kept.text, kept_criterion=kept.id)
    return replace(proposal, text=normalize_name(proposal.text), kept_criterion=None)


@use_case(OWNERS)
def cancel_vote(context: Context, person: Person, slug: str, *, round_id: int | None = None) -> None:
    """Cancel the open vote: the established criteria and the recorded ballots do not change.

    ``round_id`` is the round that was shown.

    Raises:
        NotFoundError: no vote is open.
        StaleError: another round is open now.
    """
    with context.store.write() as db:
        task = require_task(db, slug)
        head = criteria.get_round(db, task.id)
        if head is None or not head["open"]:
            raise NotFoundError(f"No vote on the criteria of “{slug}” is open, so you cannot cancel one.")
        if round_id not in (None, head["id"]):
            raise StaleError(tr(ROUND_OVER))
        criteria.cancel_rounds(db, task.id, head["version"], person.name)


@use_case(OWNERS)
def get_tally(context: Context, person: Person, slug: str) -> Tally | None:
    """Return the tally of the newest round."""
    with context.store.read() as db:
        task = require_task(db, slug)
        head = criteria.get_round(db, task.id)
        if head is None:
            return None
        cast = criteria.list_ballots(db, head["id"])
        count = ballots.tally(criteria.list_proposals(db, head["id"]), cast)
        return replace(count, waiting=_list_waiting(db, task, {ballot.person for ballot in cast}))


def _list_waiting(db: Database, task: Task, voted: Collection[str]) -> tuple[str, ...]:
    """Return the people who may vote but have not: the task's people, or everybody if none were chosen."""
    team = teams.get_team(db, task.id)
    chosen = set(team.members) if team else set()
    return tuple(
        member.person.name
        for member in list_members(db, task.id)
        if not member.disabled_at
        and (not chosen or member.person.id in chosen)
        and member.person.name not in voted
    )


@use_case(OWNERS)
def establish(
    context: Context,
    person: Person,
    slug: str,
    *,
    decisions: Mapping[int, str] | None = None,
    approved: Sequence[int] = (),
    dropped: Sequence[int] = (),
    added: Sequence[str] = (),
    round_id: int | None = None,
    saves: int | None = None,
    unvoted: bool = False,
) -> CriteriaSet:
    """Freeze the result of a round as the next version of the criteria.

    With ``unvoted``, all proposals of a round without ballots are taken as they are.

    ``round_id`` and ``saves`` identify the count that the decisions are based on (see ``Tally.saves``). If
    the browser repeats the decisions because no answer came, the set that they established is returned.

    A criterion whose wording does not change stays the same criterion, so its submissions stay valid and only
    instances with new criteria are reopened.

    Raises:
        NotFoundError: no round is open.
        InputError: a tie or a wording is undecided (see ``ballots.choose``), nobody has voted, or, with
            ``unvoted``, somebody has.
        StaleError: ballots were saved, or another round was opened, since the count was shown.
    """
    with context.store.write() as db:
        task = require_task(db, slug)
        head = criteria.get_round(db, task.id)
        if round_id is not None and (head is None or round_id != head["id"]):
            raise StaleError(tr(ROUND_OVER))
        if head is None or (round_id is None and not head["open"]):
            raise NotFoundError(
                f"No vote is open for “{slug}”: draft criteria, or open the next version first."
            )
        proposals = criteria.list_proposals(db, head["id"])
        count = ballots.tally(proposals, criteria.list_ballots(db, head["id"]))
        _check_count(count, saves, unvoted=unvoted)
        chosen = ballots.choose(count, decisions or {}, added, approved=approved, dropped=dropped)
        previous = criteria.get_criteria_set(db, task.id)
        if not head["open"]:
            return _same_or_refused(previous, chosen, person)
        kept = {c.text: c for c in previous.criteria} if previous else {}
        members = [
            kept.get(choice.text)
            or criteria.find_by_text(db, task.id, choice.text)
            or _make_criterion(choice, kept, task)
            for choice in chosen
        ]
        established = criteria.add_criteria_set(db, task.id, members, person.name)
        assignments.refresh_states(db, task.id, [criterion.id for criterion in established.criteria])
    return established


def _check_count(count: Tally, saves: int | None, *, unvoted: bool) -> None:
    if unvoted and count.n_ballots:
        raise InputError("Somebody has voted on these criteria: finalise the vote, or cancel it.")
    if not (count.n_ballots or unvoted):
        raise InputError("Nobody has voted yet: save at least one ballot before you establish the criteria.")
    if saves not in (None, count.saves):
        raise StaleError(
            "New votes arrived since you opened this count: look at it again, then finalise the criteria."
        )


def _make_criterion(choice: ballots.Chosen, kept: Mapping[str, Criterion], task: Task) -> Criterion:
    """Return a new criterion; a new wording of a current criterion keeps its scale and guide."""
    before = kept.get(choice.proposal.text) if choice.proposal else None
    if before is None:
        return Criterion(choice.text, origin=choice.origin, scale=task.scale)
    return Criterion(choice.text, origin=choice.origin, scale=before.scale, guide=before.guide)


def _same_or_refused(
    current: CriteriaSet | None, chosen: Sequence[ballots.Chosen], person: Person
) -> CriteriaSet:
    """Return the current set if this person has just established it with the same choices; raise StaleError
    otherwise.
    """
    texts = [choice.text for choice in chosen]
    if (
        current is None
        or current.established_by != person.name
        or [c.text for c in current.criteria] != texts
    ):
        raise StaleError(tr(ROUND_OVER))
    return current


@use_case(EVERYONE)
def get_criteria_set(context: Context, person: Person, slug: str) -> CriteriaSet | None:
    """Return the newest established criteria set."""
    with context.store.read() as db:
        return criteria.get_criteria_set(db, require_task(db, slug).id)
