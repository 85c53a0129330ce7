"""Telling planted errors from drafts, and attention checks from work, by what a worker sees of them.

Errors are planted in the drafts of the released study where it is there, and always in drafts made in its style; each
is held against the same draft without it. Checks are held against work of the same person by their arms and by those
before and after them.

A classifier that is right in 55 of 100 pairs has an expected z of 0.1 times the root of the pairs it is tried on: 2.4
with 600, 3.2 with 1,000, 4.5 with 2,000. A z above 2 then comes up in 67, 88 and 99 of 100 such tries, by chance alone
in 2; the draws here are fixed. Every pair is tried. A single feature that tells one pair of ten is
found with 200 pairs of any kind.
"""

from __future__ import annotations

import random
import re
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import mannwhitneyu

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
from tests.support.studies.styled_drafts import (
    RELEASED,
    Work,
    answer_several_times,
    list_planted_scores,
    load_released_work,
    make_styled_work,
    measure_tone,
    pair_planted,
    praise,
)

CHANCE_Z = 2.0
"""Hits of a classifier beyond this many standard deviations are held for more than chance."""


def tell(pairs: Sequence[Pair]) -> float:
    """The z of the middle one of five classifiers, which differ in what they learn from and what they are tried on."""
    return statistics.median(classify(pairs, seed) for seed in range(5))


MADE = "drafts made in its style"
WORKS = [MADE, *(["the released study"] if RELEASED.is_dir() else [])]


@pytest.fixture(scope="module", params=WORKS)
def drafted(request: pytest.FixtureRequest) -> Work:
    return make_styled_work(60, 5, 3) if request.param == MADE else load_released_work()


PEOPLE = {"score": (5, 34), "score of several answers": (6, 24)}
"""How many see each draft of the one and of the other, so that 600 pairs come together."""


@pytest.mark.slow
@pytest.mark.parametrize("kind", PEOPLE)
def test_no_form_tells_a_planted_error(drafted: Work, request: pytest.FixtureRequest, kind: str) -> None:
    work = answer_several_times(drafted, 2) if "several" in kind else drafted
    is_released = MADE not in request.node.name
    pairs = pair_planted(work, PEOPLE[kind][is_released])
    assert len(pairs) >= 600
    assert find_telling(pairs) == {}
    assert tell(pairs) < CHANCE_Z


HIGHEST_AUC = 0.60


@pytest.mark.slow
@pytest.mark.parametrize("slips", [0.3, 0.6])
def test_no_praise_tells_a_planted_score(slips: float) -> None:
    """A classifier on tone and score learns from half of the drafts, and is tried on 600 pairs or more."""
    planted = list_planted_scores(praise(make_styled_work(60, 5, 3), 1, slips), 16)
    said = Counter(
        word
        for draft, _ in planted
        for word in re.findall("[a-z]{3,}", " ".join(row.text for row in draft.rows[:1]).casefold())
    )
    words = [word for word, _ in said.most_common(60)]
    shown = np.array([measure_tone(draft, score, words) for draft, score in planted])
    plain = np.array([measure_tone(draft, draft.score or 0, words) for draft, _ in planted])
    held = np.array([draft.id % 2 == 0 for draft, _ in planted])
    assert held.sum() >= 600
    learned = np.concatenate([shown[~held], plain[~held]])
    side = np.repeat([1.0, -1.0], [(~held).sum()] * 2)
    spread = learned.std(axis=0) + 1e-9
    scaled = (learned - learned.mean(axis=0)) / spread
    weights = np.linalg.solve(scaled.T @ scaled + 20 * np.eye(len(spread)), scaled.T @ side)
    told, guessed = (one[held] / spread @ weights for one in (shown, plain))
    auc = mannwhitneyu(told, guessed).statistic / held.sum() ** 2
    assert abs(auc - 0.5) <= HIGHEST_AUC - 0.5


@pytest.mark.slow
def test_where_praise_settles_the_score_none_is_planted() -> None:
    """Every conclusion says what its score says, so that a score that is a point off would tell itself."""
    assert len(list_planted_scores(praise(make_styled_work(30, 5, 3), 1, 0), 2)) <= 12


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
