"""A criteria set from a list of texts, for a study whose criteria were settled elsewhere."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from coeval.domain import CriteriaSet, Criterion, Origin, Person, Scale, Task
from coeval.errors import InputError
from coeval.llm.presets.registry import get_preset
from coeval.store import Database
from coeval.store.queries import criteria
from coeval.store.queries.scrutiny import assignments
from coeval.study.access import OWNERS, Context, require_task, use_case

MAX_CRITERIA = 200
_SCALE = re.compile(
    r"(?P<text>[^\t]*?)\s*\t\s*(?P<low>-?\d{1,3})\s?-\s?(?P<high>-?\d{1,3})(?:\s*\t\s*(?P<question>.+))?"
)


@use_case(OWNERS)
def establish_list(context: Context, person: Person, slug: str, lines: Sequence[str]) -> CriteriaSet:
    """Freeze a list of criteria as the next version of the set, without a vote.

    A line is a criterion; a tab and a scale such as 1-3 may follow it, and a tab and the question that a free-text
    judge is asked. Blank lines and lines that begin with
    # are left out. A wording that the set has already stays the same criterion; the same list again changes
    nothing.

    Raises:
        InputError: there is no criterion, one stands there twice, or a scale is none.
    """
    with context.store.write() as db:
        task = require_task(db, slug)
        return _establish(db, task, parse_criteria_lines(lines, task.scale), person)


@use_case(OWNERS)
def establish_preset(context: Context, person: Person, slug: str, preset: str) -> CriteriaSet:
    """Freeze the criteria of a published judge as the next version of the set, without a vote.

    Raises:
        InputError: there is no such preset, it has no criteria, or one of them is there on another scale.
    """
    members = get_preset(preset).criteria
    if not members:
        raise InputError(f"The preset “{preset}” has no criteria of its own: vote on some, or list them.")
    with context.store.write() as db:
        return _establish(db, require_task(db, slug), members, person)


def _establish(db: Database, task: Task, members: Sequence[Criterion], person: Person) -> CriteriaSet:
    current = criteria.get_criteria_set(db, task.id)
    kept = {member.text: member for member in current.criteria} if current else {}
    chosen = [_same(kept.get(member.text), member) for member in members]
    if current and [member.text for member in current.criteria] == [member.text for member in members]:
        return current
    established = criteria.add_criteria_set(db, task.id, chosen, person.name)
    assignments.refresh_states(db, task.id, [member.id for member in established.criteria])
    return established


def parse_criteria_lines(lines: Sequence[str], scale: Scale) -> list[Criterion]:
    """The criteria of a file's lines, on ``scale`` where a line names none of its own.

    >>> parse_criteria_lines(["# ours", "Be clear.", "Be true.\\t0-1"], Scale())[1].scale
    Scale(low=0, high=1)
    """
    members: dict[str, Criterion] = {}
    for number, line in enumerate(lines, 1):
        text = line.strip()
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
            raise InputError(f"Line {number}: “{member.text[:60]}” stands there twice.")
        members[member.text] = member
    if not 0 < len(members) <= MAX_CRITERIA:
        raise InputError(f"The list holds {len(members)} criteria: write 1 to {MAX_CRITERIA}, one a line.")
    return list(members.values())


def _same(kept: Criterion | None, new: Criterion) -> Criterion:
    if kept is not None and kept.scale != new.scale:
        raise InputError(
            f"“{new.text[:60]}” has the scale {kept.scale} already, and scores were given on it: reword it to "
            "judge it on another."
        )
    if kept is not None and new.question and kept.question != new.question:
        raise InputError(f"“{new.text[:60]}” has another question already: reword it to ask another.")
    return kept or new
