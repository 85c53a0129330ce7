"""Telling planted errors from drafts, and attention checks from work, by what a worker sees of them.

Errors are planted in the drafts of the released study; each is held against the same draft without it. Checks are
held against work of the same person by their arms and by those before and after them.

A classifier that is right in 55 of 100 pairs has an expected z of 0.1 times the root of the pairs it is tried on: 2.4
with 600, 3.2 with 1,000, 4.5 with 2,000. A z above 2 then comes up in 67, 88 and 99 of 100 such tries, by chance alone
in 2; the draws here are fixed. Every pair is tried. A single feature that tells one pair of ten is
found with 200 pairs of any kind.
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from coeval.domain import Plan
from coeval.rules.arms import Design
from coeval.settings import load_settings
from coeval.store import Store
from coeval.store.queries import assignments, crowd_studies, tasks
from coeval.usecases.access import Context
from coeval.usecases.crowd.assignment import give_work
from coeval.usecases.scrutiny.policies import may_open
from coeval.usecases.scrutiny.queue import require_set
from tests.support.studies.distinguisher import (
    Pair,
    classify,
    describe_place,
    find_telling,
)
from tests.support.studies.planted_study import admit, open_planted_study
from tests.support.studies.released_drafts import Work, answer_several_times, load_released_work, pair_planted

CHANCE_Z = 2.0
"""Hits of a classifier beyond this many standard deviations are held for more than chance."""


def tell(pairs: Sequence[Pair]) -> float:
    """The z of the middle one of five classifiers, which differ in what they learn from and what they are tried on."""
    return statistics.median(classify(pairs, seed) for seed in range(5))


@pytest.fixture(scope="module")
def released(shared_data: Path) -> Work:
    return load_released_work(shared_data / "coeval_release_eli5")


PEOPLE = {"score": 34, "score of several answers": 24}
"""How many see each draft, so that 600 pairs come together."""


@pytest.mark.slow
@pytest.mark.parametrize("kind", PEOPLE)
def test_no_form_tells_a_planted_error(released: Work, kind: str) -> None:
    work = answer_several_times(released, 2) if "several" in kind else released
    pairs = pair_planted(work, PEOPLE[kind])
    assert len(pairs) >= 600
    assert find_telling(pairs) == {}
    assert tell(pairs) < CHANCE_Z


SHARES = {"assisted": 0.6, "blind": 0.2, "first": 0.2}


def pair_places(people: Mapping[int, Sequence[tuple[str, bool]]]) -> list[Pair]:
    """Each check with work of the same person, by their arms and those around them."""
    chance, pairs = random.Random(1), []
    for person, seen in people.items():
        arms = [arm for arm, _ in seen]
        work = [at for at, (_, is_check) in enumerate(seen) if not is_check]
        pairs += [
            (describe_place(arms, at), describe_place(arms, chance.choice(work)), (person, person))
            for at, (_, is_check) in enumerate(seen)
            if is_check
        ]
    return pairs


@pytest.mark.slow
def test_no_arm_tells_a_check_from_work(tmp_path: Path) -> None:
    """Nor do the arms before and after it: 100 people open 36 instances each, every sixth of them a check."""
    context = Context(Store(tmp_path / "coeval.db"), load_settings({}, db=tmp_path / "coeval.db"))
    design = Design(blind_share=SHARES["blind"], first_share=SHARES["first"])
    open_planted_study(context, 660, 40, design, Plan(per_instance=6, batch=5, quota=36))
    pairs = pair_places({number: _open_all(context, f"Worker {number}") for number in range(100)})
    assert len(pairs) == 600
    assert find_telling(pairs) == {}
    assert tell(pairs) < CHANCE_Z


def _open_all(context: Context, name: str) -> list[tuple[str, bool]]:
    """The arms of all that somebody is given, in order, and whether each is a check."""
    person, _ = admit(context, name)
    seen: list[tuple[int, str]] = []
    with context.store.write() as db:
        task = tasks.get_task(db, "demo")
        assert task is not None
        plan, current = crowd_studies.get_plan(db, task.id), require_set(db, task)
        assert plan is not None
        while give_work(db, plan, person, task):
            while assignment := assignments.get_assignment(db, person.id, task.id, len(seen) + 1):
                opened = may_open(db, task, person, assignment, current.criteria)
                assert opened.arm is not None
                seen.append((opened.instance, opened.arm))
            # what is saved does not matter here, only that it is done with
            db.conn.execute("UPDATE assignment SET state = 'finished' WHERE annotator = ?", [person.id])
        sql = "SELECT instance FROM reservation WHERE annotator = ? AND purpose = 'check'"
        checks = {instance for (instance,) in db.conn.execute(sql, [person.id])}
    return [(arm, instance in checks) for instance, arm in seen]
