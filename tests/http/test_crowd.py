"""A hundred people over HTTP, with checks, planted errors and rejections: places, arms, files and page agree."""

from __future__ import annotations

import csv
import io
import random
import uuid
import zipfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import krippendorff
import numpy as np
import pytest

from coeval.domain import Plan, Proof, Standing, StudyState, Terms
from coeval.rules.arms import Design
from coeval.settings import load_settings
from coeval.store import Store
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.crowd import exams, overview, plans
from coeval.usecases.export import export_zip
from coeval.usecases.reports.statistics import get_report
from coeval.usecases.study_import import import_study
from tests.conftest import make_study
from tests.support.serving.server import Running, new_context
from tests.support.studies.crowd_links import query
from tests.support.studies.planted_study import open_planted_study

PEOPLE, LEAVING, CARELESS, REJECTED, K = 100, 8, 6, 3, 3
INSTANCES, CHECKS = 150, 6
ASKED = {"assisted": 0.5, "blind": 0.3, "first": 0.2}
TERMS = Terms(
    service="prolific",
    code_done="DONE1",
    code_full="FULL1",
    code_blocked="BLOCK1",
    proof=Proof.LINK,
    enough=1,
)


@dataclass
class Worker:
    """One person in one browser; the careless give scores that no check accepts."""

    browser: httpx.Client
    number: int
    key: str
    careless: bool = False
    done: Counter[str] = field(default_factory=Counter)

    def come(self) -> bool:
        """Follow the link, agree and begin; whether there was room."""
        page = self.browser.get("/s/demo", params={**query(self.number), "key": self.key})
        assert page.status_code == 200
        if "I agree" not in page.text:
            assert "This study is full" in page.text and "FULL1" in page.text
            return False
        form = dict(hidden_of(page.text))
        joined = self.browser.post("/s/demo/consent", data=form)
        if joined.status_code == 403:  # others took the last places meanwhile
            assert "This study is full" in joined.text
            return False
        assert self.browser.post("/s/demo/begin").status_code == 303
        return True

    def work(self, at_most: int = 10_000) -> None:
        chance = random.Random(self.number)
        step = self._open()
        while step and step["instance"] and at_most:
            answer = self.browser.post(
                "/api/scrutiny/demo/submissions", json=confirm(step, self._score(chance))
            )
            assert answer.status_code == 200, answer.text
            if not step["evaluation"]["asks_first"]:
                self.done[f"{step['instance']['output']}{step['criterion']}"] += 1
            step, at_most = answer.json()["next"], at_most - 1
            if not step or not step["instance"]:
                step = self._open()

    def _score(self, chance: random.Random) -> int:
        return chance.choice((1, 5)) if self.careless else chance.choice((2, 3, 3, 4))

    def _open(self) -> Any:
        """The next step; None for who was stopped. A warning is read, and one goes on."""
        answer = self.browser.post("/api/scrutiny/demo/step")
        if answer.status_code == 403 and "failed an attention check" in answer.text:
            assert self.browser.post("/s/demo/go-on").status_code == 303
            answer = self.browser.post("/api/scrutiny/demo/step")
        assert answer.status_code in (200, 403), answer.text
        return answer.json() if answer.status_code == 200 else None


def hidden_of(page: str) -> Iterator[tuple[str, str]]:
    """The hidden fields of a page's first form."""
    form = page.partition("<form")[2].partition("</form>")[0]
    for part in form.split('<input type="hidden" name="')[1:]:
        name, _, rest = part.partition('" value="')
        yield name, rest.partition('"')[0]


def confirm(step: dict[str, Any], score: int) -> dict[str, Any]:
    """The body of a confirm that approves every line, with this score."""
    evaluation = step["evaluation"]
    first = evaluation["asks_first"]
    rows = [
        {"id": row["id"], "action": "approve"}
        for row in evaluation["rows"]
        if row["kind"] != "score" and row["id"] and not first
    ]
    return {
        "uid": str(uuid.uuid4()), "instance": step["instance"]["id"], "criterion": step["criterion"],
        "draft": evaluation["draft"], "revision": evaluation["revision"], "score": score, "rows": rows, "added": [],
        **({"first": True} if first else {}),
    }  # fmt: skip


@dataclass
class Study:
    """The study after everything, with what its people saw."""

    context: Context
    rejected: list[str]
    pages: list[str]
    workers: list[Worker]


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """A hundred come at once; some leave, some fail checks, three are rejected; others come until it is full."""
    path = tmp_path_factory.mktemp("crowd") / "coeval.db"
    context = Context(Store(path), load_settings({}, db=path))
    design = Design(blind_share=0.3, first_share=0.2, planted_share=0.3)
    open_planted_study(context, INSTANCES, CHECKS, design, Plan(per_instance=K, batch=3, quota=12))
    keys = "".join(f"q{n},1,2 3 4\n" for n in random.Random(2).sample(range(INSTANCES), CHECKS))
    exams.set_keys(context, OPERATOR, "demo", "instance,criterion,accepted\n" + keys)
    plans.set_plan(context, OPERATOR, "demo", Plan(per_instance=K, batch=3, quota=12, terms=TERMS))
    key = plans.get_link(context, OPERATOR, "demo")
    with pytest.MonkeyPatch.context() as patch, Running(context) as server:
        patch.setattr("coeval.usecases.crowd.entry.IDLE", PEOPLE)  # all of them come from this machine
        workers = [Worker(server.browser(), n, key, LEAVING <= n < LEAVING + CARELESS) for n in range(PEOPLE)]
        leaving, staying = workers[:LEAVING], workers[LEAVING:]
        with ThreadPoolExecutor(16) as pool:
            came = dict(zip(range(PEOPLE), pool.map(Worker.come, workers), strict=True))
            list(pool.map(lambda one: one.work(2), [one for one in leaving if came[one.number]]))
            list(pool.map(Worker.work, [one for one in staying if came[one.number]]))
            lapse(context)
            rejected = reject_some(context)
            for number in range(PEOPLE, 3 * PEOPLE):  # until the page says that it is full
                late = Worker(server.browser(), number, key)
                workers.append(late)
                if not late.come():
                    break
                late.work()
        pages = [one.browser.get("/s/demo").text for one in workers if one.done]
    return Study(context, rejected, pages, workers)


def lapse(context: Context) -> None:
    """Let an hour and more pass for whoever holds something."""
    with context.store.write() as db:
        old = "2020-01-01T00:00:00.000Z"
        held = "(SELECT annotator FROM assignment WHERE state = 'open')"
        db.conn.execute(f"UPDATE reservation SET reserved_until = ? WHERE annotator IN {held}", [old])
        db.conn.execute(f"UPDATE submission SET submitted_at = ? WHERE annotator IN {held}", [old])


def reject_some(context: Context) -> list[str]:
    done = [
        row.name
        for row in overview.get_overview(context, OPERATOR, "demo").people
        if row.state is Standing.FINISHED
    ]
    for name in done[:REJECTED]:
        plans.reject(context, OPERATOR, "demo", name, comment="did not read")
    return done[:REJECTED]


def rows_of(context: Context, name: str) -> list[dict[str, str]]:
    target = io.BytesIO()
    export_zip(context, OPERATOR, "demo", target)
    with zipfile.ZipFile(target) as archive:
        return list(csv.DictReader(io.StringIO(archive.read(name).decode("utf-8"))))


@pytest.mark.slow
def test_every_instance_has_exactly_k_people_and_nobody_any_twice(study: Study) -> None:
    scores = [row for row in rows_of(study.context, "scores.csv") if row["latest"] == "1"]
    counted = [row for row in scores if (row["check"], row["rejected"], row["timed_out"]) == ("0", "0", "0")]
    people = Counter((row["instance"], row["criterion"]) for row in counted)
    assert len(people) == (INSTANCES - CHECKS) * 2 and set(people.values()) == {K}
    assert max(max(one.done.values(), default=0) for one in study.workers) == 1
    blocked = {row["annotator"] for row in scores if row["rejected"] == "1"} - set(study.rejected)
    assert len(blocked) >= CARELESS - 2  # who came too late for two checks was only warned
    plan = plans.get_plan(study.context, OPERATOR, "demo")
    assert plan and (plan.state, plan.reason) == ("paused", "full")


@pytest.mark.slow
def test_arms_are_within_two_points_of_what_was_asked(study: Study) -> None:
    page = overview.get_overview(study.context, OPERATOR, "demo").arms
    scores = [row for row in rows_of(study.context, "scores.csv") if row["latest"] == "1"]
    counted = [row for row in scores if (row["check"], row["rejected"], row["timed_out"]) == ("0", "0", "0")]
    checks = [row for row in scores if row["check"] == "1"]
    for what, arms in (("page", Counter(page)), ("file", Counter(row["arm"] for row in counted))):
        for arm, share in ASKED.items():
            assert abs(arms[arm] / arms.total() - share) <= 0.02, (what, arms)
    # checks meet people in the same arms as the work does: 96 people or so, and one in the balance of each
    met = Counter(row["arm"] for row in checks)
    assert all(abs(met[arm] / met.total() - share) < 0.1 for arm, share in ASKED.items()), met


@pytest.mark.slow
def test_files_and_page_say_the_same(study: Study) -> None:
    context = study.context
    units = rows_of(context, "reliability.csv")
    names = [name for name in units[0] if name not in ("instance", "criterion")]
    ratings = np.array([[float(row[n]) if row[n] else np.nan for row in units] for n in names])
    reported = get_report(context, OPERATOR, "demo")["agreement"]["humans"]["ordinal"]
    assert krippendorff.alpha(ratings, level_of_measurement="ordinal") == pytest.approx(reported, abs=1e-9)
    assert not set(names) & set(study.rejected)
    page = overview.get_overview(context, OPERATOR, "demo")
    file = csv.DictReader(io.StringIO(overview.export_participants(context, OPERATOR, "demo")))
    for told, shown in zip(file, page.people, strict=True):
        one, advice = shown.participant, shown.advice
        assert (told["person"], told["suggestion"], told["code"]) == (
            one.name,
            advice.suggestion,
            advice.code,
        )
        assert (told["finished"], told["checks_failed"]) == (str(one.finished), str(one.failed))
    planted = [row for row in rows_of(context, "scores.csv") if row["planted_error"]]
    assert planted and {row["arm"] for row in planted} == {"assisted"}


@pytest.mark.slow
def test_everybody_who_did_something_has_a_way_out(study: Study) -> None:
    endings = Counter(
        next((code for code in ("DONE1", "BLOCK1", "FULL1") if code in page), "") for page in study.pages
    )
    # those who were rejected have no code and are told so; whose time ran out before anything was finished, too
    assert endings["DONE1"] > 35 and endings["BLOCK1"] >= CARELESS - 2
    assert endings[""] <= REJECTED + LEAVING
    for page in study.pages:
        ways = (
            'class="code"',
            "return your submission",
            "Continue with other instances",
            "Finish here and get my code",
        )
        assert any(way in page for way in ways), page


def test_who_lost_their_session_is_led_back_by_their_link_alone(tmp_path: Path) -> None:
    context = new_context(tmp_path)
    import_study(context, OPERATOR, make_study())
    plans.set_plan(context, OPERATOR, "demo", Plan(per_instance=1, batch=2, quota=4, terms=TERMS))
    plans.set_state(context, OPERATOR, "demo", StudyState.RUNNING)
    with Running(context) as server, server.browser() as worker, server.browser() as stranger:
        link = {**query(1), "key": plans.get_link(context, OPERATOR, "demo")}
        page = worker.get("/s/demo", params=link)
        assert (
            worker.post("/s/demo/consent", data=dict(hidden_of(page.text))).status_code == 200
        )  # the return code
        worker.cookies.delete("coeval_session")  # as after a restart that restored a snapshot
        for answer in (
            worker.get("/s/demo"),
            worker.get("/s/"),
            worker.get("/s/demo/work", follow_redirects=True),
            worker.post("/s/demo/begin", follow_redirects=True),
        ):
            if answer.has_redirect_location:
                answer = worker.get(f"/s/{answer.headers['location']}")
            assert answer.status_code == 200 and "Welcome back" in answer.text
        assert "Open the study’s link again" in stranger.get("/s/demo/work", follow_redirects=True).text
        stranger.cookies.set("coeval_link", "..%2Fadmin%3Fx")
        assert "Open the study’s link again" in stranger.get("/s/").text
        stranger.cookies.set("coeval_link", "demo%3Fx%3D1")
        assert "This is a preview" in stranger.get("/s/demo", follow_redirects=True).text
        worker.post("/signout")
        assert "Open the study’s link again" in worker.get("/s/").text, "who signs out is not led back"
