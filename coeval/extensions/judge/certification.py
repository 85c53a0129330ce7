"""The only module that reads sealed labels: it compares a frozen judge with them and records each reading."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Literal

import pandas as pd

from coeval import __version__
from coeval.clock import now
from coeval.domain import CriteriaSet, Group, Person
from coeval.errors import InputError, NotFoundError
from coeval.extensions.judge import queries_seal
from coeval.extensions.judge.certificate.figures import MARGIN, Facts, write_certificate
from coeval.extensions.judge.certificate.frozen_judge import FrozenJudge
from coeval.extensions.judge.certificate.schema import Certificate, EarlierOpening
from coeval.extensions.judge.fit import (
    Chosen,
    build_judges,
    choose_labels,
    name_person,
    read_frozen,
    require_criteria,
)
from coeval.extensions.judge.model.fitted import Fitted
from coeval.extensions.judge.seal import describe_lines, require_seal
from coeval.extensions.judge.seal_types import JudgedLine, Opening, Part, Seal
from coeval.store import Database
from coeval.store.queries import people
from coeval.usecases.access import OWNERS, Context, require_task, use_case

LEAST_MARGIN, MOST_MARGIN = 0.01, 0.5


@dataclass(frozen=True, eq=False)
class Ready:
    """The data for a certificate, except the sealed labels."""

    seal: Seal
    criteria: CriteriaSet
    frozen: FrozenJudge
    dev: Chosen
    judged: list[JudgedLine]
    openings: list[Opening]
    documents: dict[Part, int]
    groups: dict[int, Group]
    asked_again: bool


def confirm_opening(number: int) -> str:
    """Return the text that an owner must type to open the seal for the ``number``-th time."""
    return f"opening {number}"


@use_case(OWNERS)
def certify(
    context: Context,
    person: Person,
    slug: str,
    typed: str,
    margin: float = MARGIN,
    *,
    asked_again: bool = False,
) -> Certificate:
    """Open the seal: compare the newest fitted judge with the sealed labels, and store the certificate.

    The reading is recorded permanently, in the transaction that reads the labels.

    Args:
        typed: the confirmation, with the number of the opening: ``opening 1`` for the first, and so on.
        margin: the equivalence margin, as a share of each scale's range.
        asked_again: whether to count scores that the judge gave only when it was asked again.

    Raises:
        NotFoundError: the task is not sealed, or no judge was fitted.
        InputError: ``typed`` or the margin is wrong, or there is nothing to certify on.
    """
    if not LEAST_MARGIN <= margin <= MOST_MARGIN:
        raise InputError(
            f"The margin is {margin:.1%} of the scale's range: choose from {LEAST_MARGIN:.0%} to "
            f"{MOST_MARGIN:.0%}."
        )
    with context.store.write() as db:
        task = require_task(db, slug)
        queries_seal.add_newcomers(db, task.id, require_seal(db, task.id, slug))
        ready = _prepare(db, slug, asked_again=asked_again)
        _check_confirmed(ready, typed)
        # No sealed label has been read so far. The judge and its scores of these documents are fixed.
        opening, labels = queries_seal.open_seal(
            db, task.id, ready.criteria.id, ready.seal, ready.frozen.hash, person.name
        )
    sealed = choose_labels(labels, ready.judged, ready.criteria)
    heard = sealed.labels.by_judges(ready.frozen.members).judges
    scores = ready.frozen.fitted.apply(heard)
    certificate = _write(task.name, ready, opening, sealed, scores, margin)
    with context.store.write() as db:
        lines = describe_lines(db, task, ready.seal, sealed.labels, scores)
        queries_seal.record_certificate(
            db, opening.id, certificate.model_dump_json(), json.dumps(lines, ensure_ascii=False)
        )
    return certificate


def _prepare(db: Database, slug: str, *, asked_again: bool) -> Ready:
    task = require_task(db, slug)
    seal, current = require_seal(db, task.id, slug), require_criteria(db, task)
    stored = queries_seal.get_fitted(db, seal.id)
    if stored is None:
        raise NotFoundError(f"No judge of “{slug}” is fitted yet: learn from the dev part first.")
    counts = queries_seal.count_labels(db, task.id, current.id, seal)
    if not any(part is Part.CERTIFICATE for part, _ in counts):
        raise InputError(
            "Nobody has scored a sealed document yet, so there are no labels to certify with: the seal "
            "stays closed."
        )
    dev_judged, judged = (
        queries_seal.list_judged(db, task.id, current.id, seal, part, asked_again=asked_again)
        for part in (Part.DEV, Part.CERTIFICATE)
    )
    frozen = read_frozen(stored)
    absent = set(frozen.members) - {line.judge for line in judged if line.score is not None}
    if absent:
        names = ", ".join(f"“{name}”" for name in sorted(absent))
        raise InputError(
            f"The run {names} has not scored any sealed document in its first answers: draft with it first; the seal "
            "stays closed."
        )
    dev = choose_labels(queries_seal.list_dev_labels(db, task.id, current.id, seal), dev_judged, current)
    return Ready(
        seal,
        current,
        frozen,
        dev,
        judged,
        queries_seal.list_openings(db, seal.id),
        queries_seal.count_parts(db, seal.id),
        {person: Group(group) for person, group in people.list_groups(db).items()},
        asked_again,
    )


def _check_confirmed(ready: Ready, typed: str) -> None:
    expected = confirm_opening(len(ready.openings) + 1)
    if " ".join(typed.lower().split()) != expected:
        times = len(ready.openings)
        told = (
            "has not been opened yet"
            if not times
            else f"was opened {times} time{'s' if times > 1 else ''} before"
        )
        raise InputError(
            f"The seal {told}, and each opening stays on record: to open it now, type “{expected}”."
        )


def _write(
    task: str, ready: Ready, opening: Opening, sealed: Chosen, scores: pd.DataFrame, margin: float
) -> Certificate:
    frozen, judges = ready.frozen, sealed.labels.judges
    heard = [line for line in ready.judged if line.judge in frozen.members]
    facts = Facts(
        made_at=now(),
        task=task,
        judge=frozen.judge if len(frozen.members) == 1 else f"a jury of {len(frozen.members)} judges",
        judge_hash=frozen.hash,
        models=frozen.models,
        prompts=frozen.prompts,
        steps=frozen.kept,
        arms=sealed.arms,
        leaned=sealed.leaned,
        opening=opening.number,
        earlier=tuple(EarlierOpening(at=item.opened_at, judge=item.judge_hash) for item in ready.openings),
        share=ready.seal.share,
        sealed_at=ready.seal.sealed_at,
        dev_documents=ready.documents[Part.DEV],
        sealed_documents=ready.documents[Part.CERTIFICATE],
        code=__version__,
        kind=_kind_of(ready.groups, sealed),
        margin=margin,
        asked_again=frozenset((line.instance, line.criterion) for line in heard if line.asked_again),
        counts_asked_again=ready.asked_again,
    )
    raw: dict[str, pd.DataFrame] = {
        name: Fitted().apply(judges[judges["judge"] == name])
        for name in dict.fromkeys((frozen.judge, *frozen.members))
    }
    samples = pd.Series([line.samples for line in heard], dtype=object)
    answers = frozen.fitted.apply_each(build_judges(heard).assign(samples=samples))
    return write_certificate(facts, ready.dev.labels, sealed.labels, scores, raw, answers)


def _kind_of(groups: dict[int, Group], sealed: Chosen) -> Literal["expert", "skilled", "crowd"]:
    """Return the kind of people, which determines the margin of the alternative annotator test."""
    by_name = {name_person(number): group for number, group in groups.items()}
    kinds = {by_name.get(person) for person in sealed.labels.people["person"].unique()}
    if kinds == {Group.EXPERT}:
        return "expert"
    return "crowd" if kinds == {Group.CROWD} else "skilled"
