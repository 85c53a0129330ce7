"""List the lines that a fitted judge leaves to people, and limit the team's work to them."""

from __future__ import annotations

from dataclasses import dataclass

from coeval.domain import CriteriaSet, Person, Task
from coeval.errors import InputError, NotFoundError
from coeval.extensions.judge import queries_seal
from coeval.extensions.judge.certificate.frozen_judge import FrozenJudge
from coeval.extensions.judge.fit import build_judges, read_frozen, require_criteria
from coeval.extensions.judge.seal import require_seal
from coeval.extensions.judge.seal_types import Part
from coeval.store import Database
from coeval.usecases.access import OWNERS, TEAM, Context, require_task, use_case
from coeval.usecases.scrutiny.policies import ask_people, get_asking


@dataclass(frozen=True, slots=True)
class DeferredLine:
    """A line that a person should check and nobody has scored. ``score`` is the judge's, or None if it has none."""

    instance: str
    criterion: str
    score: float | None
    confidence: float | None


@dataclass(frozen=True, slots=True)
class Deferred:
    """The lines that the judge leaves to people.

    The judge scored ``judged`` lines and left ``to_people`` of them; ``lines`` are those without a person's score.
    """

    judged: int
    to_people: int
    lines: tuple[DeferredLine, ...]


@use_case(TEAM)
def list_deferred(context: Context, person: Person, slug: str) -> Deferred:
    """List the lines that a fitted judge leaves to people, the least certain first.

    Raises:
        NotFoundError: the task is not sealed, no judge was fitted, or it has no threshold.
    """
    with context.store.read() as db:
        task = require_task(db, slug)
        current = require_criteria(db, task)
        return find_deferred(db, task, current, require_threshold(db, task))


@use_case(OWNERS)
def assign_deferred(context: Context, person: Person, slug: str) -> int:
    """Assign only the unscored lines that a fitted judge leaves to people, and return their number.

    Until ``end_asking``, annotators get no other work. Later scores of these documents are not used for fitting or
    certification, because the lines were chosen for the judge's uncertainty.

    Raises:
        NotFoundError: see ``list_deferred``.
        InputError: there is no such line, or a crowd plan assigns the task.
    """
    with context.store.write() as db:
        task = require_task(db, slug)
        current, frozen = require_criteria(db, task), require_threshold(db, task)
        queries_seal.add_newcomers(db, task.id, require_seal(db, task.id, slug))
        deferred, pairs = _find(db, task, current, frozen)
        if not pairs:
            raise InputError(
                f"The judge leaves {deferred.to_people:,} of {deferred.judged:,} lines to people, and "
                "people have scored all of these: no line is left to assign."
            )
        ask_people(db, task, current, frozen.hash, pairs, person.name)
    return len(pairs)


@use_case(OWNERS)
def end_asking(context: Context, person: Person, slug: str) -> None:
    """Assign all work to the team again. Existing scores stay.

    Raises:
        NotFoundError: the work is not limited.
    """
    with context.store.write() as db:
        task = require_task(db, slug)
        if get_asking(db, task.id) is None:
            raise NotFoundError(f"The team of “{slug}” already has all lines: there is no assignment to end.")
        ask_people(db, task, require_criteria(db, task), "", [], person.name)


def require_threshold(db: Database, task: Task) -> FrozenJudge:
    """Return the newest fitted judge, which must have a deferral threshold.

    Raises:
        NotFoundError: no judge was fitted, or it has no threshold.
    """
    stored = queries_seal.get_fitted(db, require_seal(db, task.id, task.slug).id)
    if stored is None:
        raise NotFoundError(f"No judge of “{task.slug}” is fitted yet: learn from the dev part first.")
    frozen = read_frozen(stored)
    if frozen.fitted.deferral is None:
        raise NotFoundError(
            f"The judge of “{task.slug}” has no threshold: its confidence did not predict where people "
            "agree with it. Draft with decisions, log-probabilities, several samples or several judges, and "
            "learn again."
        )
    return frozen


def find_deferred(db: Database, task: Task, current: CriteriaSet, frozen: FrozenJudge) -> Deferred:
    """Return the deferred lines of a judge with a threshold; see ``list_deferred``."""
    return _find(db, task, current, frozen)[0]


def _find(
    db: Database, task: Task, current: CriteriaSet, frozen: FrozenJudge
) -> tuple[Deferred, list[tuple[int, int]]]:
    """Return the lines for people, and the (instance, criterion) ids of unscored lines. This reads no
    person's score.
    """
    seal = require_seal(db, task.id, task.slug)
    judged = [
        line
        for part in Part
        for line in queries_seal.list_judged(db, task.id, current.id, seal, part)
        if line.judge in frozen.members
    ]
    table = frozen.fitted.apply(build_judges(judged))
    asked = table[table["ask_person"].astype(bool)].sort_values(
        "confidence", na_position="first", kind="stable"
    )
    free = queries_seal.list_unscored_lines(db, task.id, current.id)
    open_lines = asked[[pair in free for pair in zip(asked["instance"], asked["criterion"], strict=True)]]
    lines = tuple(
        DeferredLine(row["instance"], row["criterion"], _known(row["score"]), _known(row["confidence"]))
        for row in open_lines.to_dict("records")
    )
    pairs = [free[line.instance, line.criterion] for line in lines]
    return Deferred(len(table), len(asked), lines), pairs


def _known(value: float) -> float | None:
    return float(value) if value == value else None
