"""Telling planted errors from drafts, and attention checks from work, by everything that a worker receives.

A crowd works through a study over HTTP; ``COEVAL_WORKERS`` says how many (300 takes some minutes). Each planted
screen is held against another person's plain screen of the same draft, each check against work of the same person.
"""

from __future__ import annotations

import math
import os
import random
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from coeval.domain import Person, Plan
from coeval.rules.arms import Design
from coeval.settings import load_settings
from coeval.store import Store
from coeval.study.access import Context
from coeval.study.crowd.onboarding import get_visit
from coeval.study.scrutiny.steps import get_aliases
from coeval.ui.server.identity import COOKIE
from coeval.ui.study_app.scrutiny.scrutiny_routes import add_scrutiny_api
from tests.support.studies.distinguisher import Pair, altered, classify, describe, find_telling
from tests.support.studies.planted_study import admit, open_planted_study

WORKERS = int(os.environ.get("COEVAL_WORKERS", "54"))
QUOTA, BATCH = 24, 5
TIMED = "COEVAL_WORKERS" in os.environ
"""How long an answer took is held against chance by command alone: beside other tests it tells of those."""
N_WORK, N_CHECKS = WORKERS * 5 // 2, WORKERS * 4
CHANCE_Z = 3.9
"""A classifier's hits beyond this many standard deviations are no chance: one in 10,000."""


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
        assert abs(classify(pairs)) < CHANCE_Z, kind


@pytest.mark.slow
def test_nothing_tells_a_check_from_work(crowd: Crowd) -> None:
    pairs = crowd.pair_checks()
    assert len(pairs) >= 1000 * min(1, WORKERS / 54)
    assert find_telling(pairs) == {}
    assert abs(classify(pairs)) < CHANCE_Z
    arms = Counter(one.arm for one in crowd.screens if (one.worker, one.instance) in crowd.checks)
    assert set(arms) == {"assisted", "blind", "first"}
    # the study's page counts a check as finished like everything else
    assert all(done == counted for done, counted in crowd.visits)


@pytest.mark.slow
def test_a_planted_line_is_of_nothing_that_the_person_has_seen(crowd: Crowd) -> None:
    for one in crowd.screens:
        if crowd.planted.get((one.worker, one.instance, one.criterion)) == "evidence":
            assert one.features["lines seen elsewhere"] == 0


TOLD_BEFORE = {
    "more digits": lambda one: {
        **one,
        ".evaluation.draft_score digits": one[".evaluation.draft_score digits"] + 1,
    },
    "a quote that is not found": lambda one: {**one, ".evaluation.rows[].quotes[].start is None": 1.0},
    "seen elsewhere": lambda one: {**one, "lines seen elsewhere": one["lines seen elsewhere"] + 1},
}


@pytest.mark.slow
@pytest.mark.parametrize("leak", ["more digits", "a quote that is not found", "seen elsewhere"])
def test_the_distinguisher_finds_what_told_before(crowd: Crowd, leak: str) -> None:
    """In two planted screens of five already: with fewer, a crowd of this size leaves it to chance."""
    chance = random.Random(5)
    change = TOLD_BEFORE[leak]
    pairs = altered(crowd.pair_planted(), lambda one: change(dict(one)) if chance.random() < 0.4 else one)
    assert find_telling(pairs) and classify(pairs) > CHANCE_Z
