"""Telling planted errors from drafts, and attention checks from work, by everything that a worker receives.

First without a server: errors are planted in the drafts of the released study where it is there, and always in drafts
made in its style; each is held against the same draft without it. Checks are held against work of the same person by
their arms and by those before and after them. Then a crowd works through a study over HTTP; ``COEVAL_WORKERS`` says
how many (300 takes some minutes).

A classifier that is right in 55 of 100 pairs has an expected z of 0.1 times the root of the pairs it is tried on: 2.4
with 600, 3.2 with 1,000, 4.5 with 2,000. A z above 2 then comes up in 67, 88 and 99 of 100 such tries, by chance alone
in 2; the draws here are fixed. Scores are tried on every pair. Where drafts exchange lines, a third are: those in
which neither draft was learned from. A single feature that tells one pair of ten is found with 200 pairs of any kind.
"""

from __future__ import annotations

import math
import os
import random
import re
import statistics
import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from scipy.stats import mannwhitneyu

from coeval.domain import Person, Plan
from coeval.rules.arms import Design
from coeval.rules.planted_errors import ErrorKind
from coeval.settings import load_settings
from coeval.store import Store
from coeval.store.queries import assignments, crowd_studies, tasks
from coeval.ui.app.scrutiny_tab import add_scrutiny_api
from coeval.ui.server.identity import COOKIE
from coeval.usecases.access import Context
from coeval.usecases.crowd.assignment import give_work
from coeval.usecases.crowd.onboarding import get_visit
from coeval.usecases.scrutiny.policies import may_open
from coeval.usecases.scrutiny.queue import require_set
from coeval.usecases.scrutiny.steps import get_aliases
from tests.support.studies.distinguisher import (
    Pair,
    classify,
    describe,
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

WORKERS = int(os.environ.get("COEVAL_WORKERS", "54"))
QUOTA, BATCH = 24, 5
TIMED = "COEVAL_WORKERS" in os.environ
"""How long an answer took is held against chance by command alone: beside other tests it tells of those."""
N_WORK, N_CHECKS = WORKERS * 5 // 2, WORKERS * 4
CHANCE_Z = 2.0
"""Hits of a classifier beyond this many standard deviations are held for more than chance."""


def tell(pairs: Sequence[Pair], strongest: int = 0) -> float:
    """The z of the middle one of five classifiers, which differ in what they learn from and what they are tried on."""
    return statistics.median(classify(pairs, seed, strongest=strongest) for seed in range(5))


RARE = 2
"""Features of a classifier that finds one rare sign: evidence has too few drafts to find it among all features."""


MADE = "drafts made in its style"
WORKS = [MADE, *(["the released study"] if RELEASED.is_dir() else [])]


@pytest.fixture(scope="module", params=WORKS)
def drafted(request: pytest.FixtureRequest) -> Work:
    return make_styled_work(60, 5, 3) if request.param == MADE else load_released_work()


PEOPLE = {"evidence": (2, 3), "score": (5, 34), "score of several answers": (6, 24)}
"""How many see each draft of the one and of the other, so that 600 pairs come together."""


@pytest.mark.slow
@pytest.mark.parametrize("kind", PEOPLE)
def test_no_form_tells_a_planted_error(drafted: Work, request: pytest.FixtureRequest, kind: str) -> None:
    work = answer_several_times(drafted, 2) if "several" in kind else drafted
    error = ErrorKind.EVIDENCE if kind == "evidence" else ErrorKind.SCORE
    is_released = MADE not in request.node.name
    pairs = pair_planted(work, error, PEOPLE[kind][is_released])
    assert len(pairs) >= 600
    assert find_telling(pairs) == {}
    assert tell(pairs) < CHANCE_Z
    if error is ErrorKind.EVIDENCE:
        assert tell(pairs, RARE) < CHANCE_Z


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


@dataclass
class Screen:
    """One screen as a worker first got it."""

    worker: int
    instance: int
    criterion: int
    arm: str
    sent: dict[str, Any]
    milliseconds: float
    features: dict[str, float] = field(default_factory=dict)


class Crowd:
    """Everybody's screens, and what the database knows of them."""

    def __init__(self, context: Context) -> None:
        self.context, self.screens, self.visits = context, [], []
        app = FastAPI()
        add_scrutiny_api(app, context)
        for number in range(WORKERS):
            person, token = admit(context, f"Worker {number}")
            with TestClient(app, cookies={COOKIE: token}) as client:
                mine = self._work(client, person)
            self._describe(mine)
            self.screens += mine
            finished = len({one.instance for one in mine})
            self.visits.append((finished, get_visit(context, person, "demo").part.finished))
        with context.store.read() as db:
            rows = db.conn.execute("SELECT annotator, instance, criterion, kind FROM planted_error")
            self.planted = {tuple(row[:3]): row[3] for row in rows}
            rows = db.conn.execute("SELECT annotator, instance FROM reservation WHERE purpose = 'check'")
            self.checks = {tuple(row) for row in rows}

    def _work(self, client: TestClient, person: Person) -> list[Screen]:
        chance, aliases = random.Random(person.name), get_aliases(self.context, person, "demo")
        screens: list[Screen] = []
        started = time.perf_counter()
        step = client.post("/api/scrutiny/demo/step").json()
        while step["instance"]:
            took = 1000 * (time.perf_counter() - started)
            instance = aliases.reveal("instance", step["instance"]["id"])
            arm = step["evaluation"]["arm"]
            screens.append(Screen(person.id, instance, step["criterion"], arm, step, took))
            started = time.perf_counter()
            answer = client.post("/api/scrutiny/demo/submissions", json=_confirm(step, chance))
            assert answer.status_code == 200, answer.text
            step = answer.json()["next"]
            if not step["instance"]:
                started = time.perf_counter()
                step = client.post("/api/scrutiny/demo/step").json()
        return screens

    @staticmethod
    def _describe(mine: list[Screen]) -> None:
        """What can be counted in each screen, and whether its lines turn up elsewhere in this person's work."""
        lines = Counter(text for one in mine for text in {(one.instance, line) for line in _texts(one.sent)})
        places = Counter(line for _, line in lines)
        for number, one in enumerate(mine):
            one.features = describe(one.sent)
            one.features["lines seen elsewhere"] = sum(places[line] > 1 for line in _texts(one.sent))
            if TIMED:
                one.features["time class"] = int(math.log10(max(one.milliseconds, 0.1)))
            one.features["place in one's work"] = number

    def pair_planted(self, kind: str = "") -> list[Pair]:
        """Each planted screen with somebody else's plain screen of the same draft."""
        chance = random.Random(3)
        plain: defaultdict[tuple[int, int], list[Screen]] = defaultdict(list)
        assisted = [one for one in self.screens if one.arm == "assisted"]
        for one in assisted:
            if (one.worker, one.instance, one.criterion) not in self.planted:
                plain[one.instance, one.criterion].append(one)
        return [
            (one.features, chance.choice(others).features, 2 * ((one.instance, one.criterion),))
            for one in assisted
            if self.planted.get((one.worker, one.instance, one.criterion), "-").startswith(kind)
            and (one.worker, one.instance, one.criterion) in self.planted
            and (others := plain[one.instance, one.criterion])
        ]

    def pair_checks(self) -> list[Pair]:
        """Each screen of a check with three of the same person's work by the same criterion."""
        chance = random.Random(4)
        work: defaultdict[tuple[int, int], list[Screen]] = defaultdict(list)
        for one in self.screens:
            if (one.worker, one.instance) not in self.checks:
                work[one.worker, one.criterion].append(one)
        return [
            (one.features, other.features, (one.instance, other.instance))
            for one in self.screens
            if (one.worker, one.instance) in self.checks
            for other in chance.sample(work[one.worker, one.criterion], 3)
        ]


def _texts(step: dict[str, Any]) -> list[str]:
    rows = [row["text"] for row in step["evaluation"]["rows"] if row["kind"] != "score"]
    return [*rows, step["instance"]["input"], step["instance"]["output"]]


def _confirm(step: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    shown = step["evaluation"]
    rows = [row["id"] for row in shown["rows"] if row["id"] is not None and row["kind"] != "score"]
    return {
        "uid": str(uuid4()),
        "instance": step["instance"]["id"],
        "criterion": step["criterion"],
        "draft": shown["draft"],
        "revision": shown["revision"],
        "score": chance.randint(1, 5),
        "rows": [] if shown["asks_first"] else [{"id": row, "action": "approve"} for row in rows],
        "added": [],
        "first": shown["asks_first"],
    }


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Crowd:
    path: Path = tmp_path_factory.mktemp("crowd") / "coeval.db"
    context = Context(Store(path), load_settings({}, db=path))
    design = Design(blind_share=0.05, first_share=0.05, planted_share=0.6)
    open_planted_study(
        context, N_WORK + N_CHECKS, N_CHECKS, design, Plan(per_instance=10, batch=BATCH, quota=QUOTA)
    )
    return Crowd(context)


@pytest.mark.slow
def test_nothing_tells_a_planted_error_from_a_draft(crowd: Crowd) -> None:
    for kind in ("", "score", "evidence"):
        pairs = crowd.pair_planted(kind)
        assert len(pairs) >= (1000 if not kind else 300) * min(1, WORKERS / 54)
        assert find_telling(pairs) == {}, kind
        assert tell(pairs) < CHANCE_Z, kind


@pytest.mark.slow
def test_nothing_tells_a_check_from_work(crowd: Crowd) -> None:
    pairs = crowd.pair_checks()
    assert len(pairs) >= 1000 * min(1, WORKERS / 54)
    assert find_telling(pairs) == {}
    assert tell(pairs) < CHANCE_Z
    arms = Counter(one.arm for one in crowd.screens if (one.worker, one.instance) in crowd.checks)
    assert set(arms) == {"assisted", "blind", "first"}
    # the study's page counts a check as finished like everything else
    assert all(done == counted for done, counted in crowd.visits)


@pytest.mark.slow
def test_a_planted_line_is_of_nothing_that_the_person_has_seen(crowd: Crowd) -> None:
    lines = [
        one
        for one in crowd.screens
        if crowd.planted.get((one.worker, one.instance, one.criterion)) == "evidence"
    ]
    assert len(lines) > 300 * min(1, WORKERS / 54)
    assert all(one.features["lines seen elsewhere"] == 0 for one in lines)
