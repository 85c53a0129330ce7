"""Establish a criteria set from a list, and write the scoring guide of a criterion."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from coeval.domain import CriteriaSet, Criterion, Guide, Origin, Person, Scale, Task
from coeval.errors import InputError, NotFoundError
from coeval.llm.prompting.presets import get_preset
from coeval.rules.criterion_wording import build_guide
from coeval.rules.names import compose, normalize_name
from coeval.store import Database
from coeval.store.queries import assignments, criteria
from coeval.usecases.access import OWNERS, Context, require_task, use_case

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
        InputError: there is no criterion, a criterion occurs twice, or a scale is invalid.
    """
    with context.store.write() as db:
        task = require_task(db, slug)
        return _establish(db, task, parse_criteria_lines(lines, task.scale), person)


@use_case(OWNERS)
def establish_preset(context: Context, person: Person, slug: str, preset: str) -> CriteriaSet:
    """Freeze the criteria of a published judge as the next version of the set, without a vote.

    Raises:
        InputError: the preset does not exist or has no criteria, or the set has one of them on another scale.
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
        own = _SCALE.fullmatch(text)
        if own and int(own["low"]) >= int(own["high"]):
            raise InputError(f"Line {number}: the scale {own['low']}-{own['high']} must rise, such as 1-5.")
        member = Criterion(own["text"] if own else text, origin=Origin.HUMAN, scale=scale)
        if own:
            member = replace(
                member,
                scale=Scale(int(own["low"]), int(own["high"])),
                question=own["question"] or "",
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
