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
    Instance,
    Origin,
    Person,
    Proposal,
    Suggestion,
    Task,
    Vote,
)
from coeval.errors import InputError, NotFoundError, StaleError
from coeval.language import later, speaking, tr
from coeval.rules import ballots
from coeval.rules.arms import Design
from coeval.rules.ballots import Tally
from coeval.rules.criterion_wording import Finding, lint_criteria, sharpen_guide
from coeval.rules.names import compose, normalize_name
from coeval.store import Database
from coeval.store.queries import assignments, criteria, review, tasks, teams, wordings
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
        return _round_state(db, require_task(db, slug), person)


def _round_state(db: Database, task: Task, person: Person) -> RoundState | None:
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
        state = _round_state(db, require_task(db, slug), person)
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
def open_round(context: Context, person: Person, slug: str, proposals: Sequence[Proposal]) -> RoundState:
    """Open a vote on criteria, in the next round or for the next version.

    Raises:
        InputError: there is nothing to vote on, or two proposals have the same wording.
    """
    with context.store.write() as db:
        task = require_task(db, slug)
        current = criteria.get_criteria_set(db, task.id)
        kept = {compose(one.text): one for one in current.criteria} if current else {}
        marked = [_mark(proposal, kept.get(compose(proposal.text))) for proposal in proposals]
        marked = [proposal for proposal in marked if proposal.text]
        if not marked:
            raise InputError("There is no criterion to vote on: draft some, or write one per line.")
        if len({ballots.same_words(proposal.text) for proposal in marked}) < len(marked):
            raise InputError("Two of these criteria are the same: remove one before you open the vote.")
        criteria.add_round(db, task.id, current.version + 1 if current else 1, marked)
        state = _round_state(db, task, person)
    assert state is not None
    return state


def _mark(proposal: Proposal, kept: Criterion | None) -> Proposal:
    """Return the proposal with its text in normal Unicode form, but a criterion of the set unchanged."""
    if kept:
        return replace(proposal, text=kept.text, kept_criterion=kept.id)
    return replace(proposal, text=normalize_name(proposal.text), kept_criterion=None)


@use_case(OWNERS)
def reopen_criteria(context: Context, person: Person, slug: str, suggested: Sequence[int] = ()) -> RoundState:
    """Open a vote on the next version: the established criteria, and these suggestions.

    Raises:
        NotFoundError: no set is established yet.
    """
    with context.store.read() as db:
        task = require_task(db, slug)
        current = criteria.get_criteria_set(db, task.id)
        design = tasks.get_design(db, task.id)
        taken = [suggestion for suggestion in _open_suggestions(db, task) if suggestion.id in suggested]
    if current is None:
        raise NotFoundError(
            f"“{slug}” has no established criteria yet: its first version is still being voted on."
        )
    proposals = {
        ballots.same_words(criterion.text): Proposal(criterion.text, criterion.origin)
        for criterion in current.criteria
    }
    for suggestion in taken:
        with speaking(task.language):
            note = _suggested_at(suggestion.instance, design)
        proposals.setdefault(
            ballots.same_words(suggestion.text), Proposal(suggestion.text, Origin.HUMAN, note=note)
        )
    return open_round(context, person, slug, list(proposals.values()))


def _suggested_at(instance: Instance, design: Design) -> str:
    """Return the instance at which a criterion was suggested, in words that do not name a hidden system.

    An id such as "17a" or "17b" reveals the system, so ids are not shown either.
    """
    if design.hide_systems:
        return tr("suggested while judging an instance about “{text}”", text=instance.input[:80].strip())
    return tr("suggested while judging instance {id}", id=instance.external_id)


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
def list_suggestions(context: Context, person: Person, slug: str) -> Sequence[Suggestion]:
    """Return the criteria that people suggested during scrutiny and that are not in a vote yet."""
    with context.store.read() as db:
        return _open_suggestions(db, require_task(db, slug))


def _open_suggestions(db: Database, task: Task) -> list[Suggestion]:
    voted = {ballots.same_words(text) for text in criteria.list_proposed(db, task.id)}
    return [
        suggestion
        for suggestion in review.list_suggestions(db, task.id)
        if ballots.same_words(suggestion.text) not in voted
    ]


@use_case(OWNERS)
def list_findings(context: Context, person: Person, slug: str) -> list[Finding]:
    """Return possible problems of the criteria in the vote, with suggested replacements."""
    round_ = get_round(context, person, slug)
    if round_ is None or not round_.open:
        return []
    return lint_criteria([proposal.text for proposal in round_.proposals])


@use_case(OWNERS)
def take_findings(context: Context, person: Person, slug: str, chosen: Sequence[int]) -> RoundState:
    """Start another round in which the selected suggestions replace the criteria that they concern.

    ``chosen`` are positions in ``list_findings``; findings without a suggestion change nothing.

    Raises:
        InputError: nothing with a suggestion was chosen.
    """
    findings = list_findings(context, person, slug)
    taken = [findings[n] for n in chosen if 0 <= n < len(findings) and findings[n].suggestion]
    round_ = get_round(context, person, slug)
    if round_ is None or not taken:
        raise InputError("Choose at least one suggestion to take, or leave the criteria as they are.")
    gone = {finding.index for finding in taken} | {
        finding.other for finding in taken if finding.other is not None
    }
    kept = [proposal for n, proposal in enumerate(round_.proposals) if n not in gone]
    wordings = dict.fromkeys(text for finding in taken for text in finding.suggestion)
    known = {ballots.same_words(proposal.text) for proposal in kept}
    new = [Proposal(text, Origin.HUMAN) for text in wordings if ballots.same_words(text) not in known]
    return open_round(context, person, slug, [*kept, *new])


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
        for member in list_members(db)
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
) -> CriteriaSet:
    """Freeze the result of a round as the next version of the criteria.

    ``round_id`` and ``saves`` identify the count that the decisions are based on (see ``Tally.saves``). If
    the browser repeats the decisions because no answer came, the set that they established is returned.

    A criterion whose wording does not change stays the same criterion, so its submissions stay valid and only
    instances with new criteria are reopened.

    Raises:
        NotFoundError: no round is open.
        InputError: a tie or a wording is undecided (see ``ballots.choose``).
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
        if not count.n_ballots:
            raise InputError(
                "Nobody has voted yet: save at least one ballot before you establish the criteria."
            )
        if saves not in (None, count.saves):
            raise StaleError(
                "New votes arrived since you opened this count: look at it again, then finalise the criteria."
            )
        chosen = ballots.choose(count, decisions or {}, added, approved=approved, dropped=dropped)
        previous = criteria.get_criteria_set(db, task.id)
        if not head["open"]:
            return _same_or_refused(previous, chosen, person)
        kept = {c.text: c for c in previous.criteria} if previous else {}
        members = [
            kept.get(choice.text)
            or _find_sharper(db, task, choice.text, previous)
            or _make_criterion(choice, kept, task)
            for choice in chosen
        ]
        established = criteria.add_criteria_set(db, task.id, members, person.name)
        assignments.refresh_states(db, task.id, [criterion.id for criterion in established.criteria])
    return established


def _find_sharper(db: Database, task: Task, text: str, previous: CriteriaSet | None) -> Criterion | None:
    """Return the criterion for an accepted wording, with the name, scale and guide of the criterion that it
    replaces.
    """
    taken = [one for one in wordings.list_wordings(db, task.id) if one.taken and one.text == text]
    members = {one.id: one for one in (previous.criteria if previous else ())}
    before = members.get(taken[-1].criterion) if taken else None
    if before is None:
        return None
    guide = sharpen_guide(before.guide, taken[-1].anchors)
    return Criterion(text, before.name, Origin.LLM, before.scale, guide=guide)


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
def get_criteria_set(
    context: Context, person: Person, slug: str, version: int | None = None
) -> CriteriaSet | None:
    """Return an established criteria set, the newest unless a version is given."""
    with context.store.read() as db:
        return criteria.get_criteria_set(db, require_task(db, slug).id, version)
