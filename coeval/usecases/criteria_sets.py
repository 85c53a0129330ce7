"""Establish a criteria set from a list, write scoring guides, and open the vote on the next version."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from coeval.domain import (
    CriteriaSet,
    Criterion,
    Guide,
    Origin,
    Person,
    Proposal,
    Scale,
    Task,
)
from coeval.errors import InputError, NotFoundError
from coeval.folded_text import compose, normalize_name
from coeval.llm.prompting.presets import get_preset
from coeval.rules import ballots
from coeval.rules.criterion_wording import build_guide
from coeval.store import Database
from coeval.store.queries import assignments, criteria
from coeval.usecases.access import OWNERS, Context, require_task, use_case
from coeval.usecases.criteria_rounds import (
    RoundState,
    find_other_rounds,
    find_state,
    open_round,
    require_no_other_vote,
)

# A criteria set from a list of texts, for a study whose criteria were decided elsewhere.

MAX_CRITERIA = 200
_SCALE = re.compile(
    r"(?P<text>[^\t]*?)\s*\t\s*(?P<low>-?\d{1,3})\s?-\s?(?P<high>-?\d{1,3})(?:\s*\t\s*(?P<question>.+))?"
)


@use_case(OWNERS)
def establish_list(context: Context, person: Person, slug: str, lines: Sequence[str]) -> CriteriaSet:
    """Freeze a list of criteria as the next version of the set, without a vote.

    Each line is a criterion. It may be followed by a tab and a scale such as 1-3, and by a tab and the
    question for a free-text judge. Blank lines and lines that begin with # are skipped. A wording that is
    already in the set stays the same criterion; repeating the same list changes nothing.

    Raises:
        InputError: there is no criterion, a criterion occurs twice, a scale is invalid, or people have voted in
            an open vote.
    """
    with context.store.write() as db:
        task = require_task(db, slug)
        return _establish(db, task, parse_criteria_lines(lines, task.scale), person)


@use_case(OWNERS)
def establish_preset(context: Context, person: Person, slug: str, preset: str) -> CriteriaSet:
    """Freeze the criteria of a published judge as the next version of the set, without a vote.

    Raises:
        InputError: the preset does not exist or has no criteria, the set has one of them on another scale, or
            people have voted in an open vote.
    """
    members = get_preset(preset).criteria
    if not members:
        raise InputError(f"The preset “{preset}” has no criteria of its own: vote on some, or list them.")
    with context.store.write() as db:
        return _establish(db, require_task(db, slug), members, person)


def _establish(db: Database, task: Task, members: Sequence[Criterion], person: Person) -> CriteriaSet:
    current = criteria.get_criteria_set(db, task.id)
    kept = {compose(member.text): member for member in current.criteria} if current else {}
    chosen = [_same(kept.get(member.text), member) for member in members]
    if current and [member.text for member in current.criteria] == [member.text for member in chosen]:
        return current
    require_no_other_vote(db, task, unvoted=True)
    established = criteria.add_criteria_set(db, task.id, chosen, person.name)
    assignments.refresh_states(db, task.id, [member.id for member in established.criteria])
    for member, new in zip(established.criteria, chosen, strict=True):
        if new.guide != Guide() and member.guide == Guide():
            criteria.record_guide(db, member.id, new.guide, person.name)
    return criteria.get_criteria_set(db, task.id) or established


def parse_criteria_lines(lines: Sequence[str], scale: Scale) -> list[Criterion]:
    """Return the criteria in a file's lines; ``scale`` applies to lines that name no scale.

    >>> parse_criteria_lines(["# ours", "Be clear.", "Be true.\\t0-1"], Scale())[1].scale
    Scale(low=0, high=1)
    """
    members: dict[str, Criterion] = {}
    for number, line in enumerate(lines, 1):
        text = normalize_name(line)
        if not text or text.startswith("#"):
            continue
        scaled = _SCALE.fullmatch(text)
        if scaled and int(scaled["low"]) >= int(scaled["high"]):
            raise InputError(
                f"Line {number}: the scale {scaled['low']}-{scaled['high']} must rise, such as 1-5."
            )
        member = Criterion(scaled["text"] if scaled else text, origin=Origin.HUMAN, scale=scale)
        if scaled:
            member = replace(
                member,
                scale=Scale(int(scaled["low"]), int(scaled["high"])),
                question=scaled["question"] or "",
            )
        if member.text in members:
            raise InputError(
                f"Line {number}: “{member.text[:60]}” is in the list twice: remove one of the two."
            )
        members[member.text] = member
    if not 0 < len(members) <= MAX_CRITERIA:
        raise InputError(f"The list has {len(members)} criteria: write 1 to {MAX_CRITERIA}, one per line.")
    return list(members.values())


def _same(kept: Criterion | None, new: Criterion) -> Criterion:
    if kept is not None and kept.scale != new.scale:
        raise InputError(
            f"“{new.text[:60]}” already has the scale {kept.scale}, and scores were given on it: "
            "reword the criterion to use another scale."
        )
    if kept is not None and new.question and kept.question != new.question:
        raise InputError(
            f"“{new.text[:60]}” already has another question: reword the criterion to ask a different one."
        )
    return kept or new


@use_case(OWNERS)
def set_guide(
    context: Context, person: Person, slug: str, text: str, *, definition: str, anchors: str, examples: str
) -> Criterion:
    """Write the scoring guide of an established criterion.

    ``text`` is the criterion's wording; ``anchors`` has a line such as "1: wrong" for each score that is
    described. People and models read the guide from now on; earlier versions stay on record.

    Raises:
        NotFoundError: the set has no such criterion.
        InputError: a text is too long, or a line names no score of the scale.
    """
    with context.store.write() as db:
        task = require_task(db, slug)
        current = criteria.get_criteria_set(db, task.id)
        members = current.criteria if current else ()
        criterion = next((member for member in members if member.text == text), None)
        if criterion is None:
            raise NotFoundError(
                f"The criteria of “{slug}” do not include “{text[:60]}”: choose one of the set."
            )
        guide = build_guide(definition, anchors, examples, criterion.scale)
        if guide != criterion.guide:
            criteria.record_guide(db, criterion.id, guide, person.name)
    return criterion


# The vote on the next version.


@use_case(OWNERS)
def reopen_criteria(
    context: Context,
    person: Person,
    slug: str,
    drafted: Sequence[str] = (),
    *,
    instead_of: int | None = None,
) -> RoundState:
    """Open a vote on the open vote's criteria (or else the established ones) and ``drafted`` ones.

    ``drafted`` holds texts of ``list_drafted``. ``instead_of`` is the open round to replace; it is needed
    only for a round with ballots.

    Raises:
        NotFoundError: there are no criteria yet.
        InputError: a vote with ballots is open, or nothing would change in it.
    """
    with context.store.write() as db:
        task = require_task(db, slug)
        state = find_state(db, task, person)
        before = _list_before(db, task, state)
        proposals = {ballots.same_words(proposal.text): proposal for proposal in before}
        new = [replace(proposal, id=0) for proposal in _list_drafted(db, task) if proposal.text in drafted]
        if state is not None and state.open and not new:
            raise InputError("Choose at least one drafted criterion to add to the vote.")
        for proposal in new:
            proposals.setdefault(ballots.same_words(proposal.text), proposal)
        require_no_other_vote(db, task, instead_of, unvoted=True)
        replaced = state.id if state else None
        return open_round(context, person, slug, list(proposals.values()), instead_of=replaced)


def _list_before(db: Database, task: Task, state: RoundState | None) -> list[Proposal]:
    """Return the criteria of the open vote, or else those of the established set."""
    if state is not None and state.open:
        return list(state.proposals)
    current = criteria.get_criteria_set(db, task.id)
    if current is None:
        raise NotFoundError(
            f"“{task.slug}” has no established criteria yet: draft some, or write one per line, and open the vote."
        )
    return [Proposal(criterion.text, criterion.origin) for criterion in current.criteria]


@use_case(OWNERS)
def list_drafted(context: Context, person: Person, slug: str) -> list[Proposal]:
    """Return the criteria of drafts that arrived during a vote and that are not in it."""
    with context.store.read() as db:
        return _list_drafted(db, require_task(db, slug))


def _list_drafted(db: Database, task: Task) -> list[Proposal]:
    head = criteria.get_round(db, task.id)
    current = criteria.get_criteria_set(db, task.id)
    taken = {ballots.same_words(criterion.text) for criterion in (current.criteria if current else ())}
    if head and head["open"]:
        taken |= {ballots.same_words(proposal.text) for proposal in criteria.list_proposals(db, head["id"])}
    drafted = {
        ballots.same_words(proposal.text): proposal
        for other in find_other_rounds(db, task)
        for proposal in other.proposals
        if other.waits
    }
    return [proposal for words, proposal in drafted.items() if words not in taken]
