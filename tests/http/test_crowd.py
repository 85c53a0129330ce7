"""Sixty people at once over HTTP: every instance is judged by three, nobody twice, what is left is reclaimed."""

from __future__ import annotations

import uuid
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any

import httpx
import pytest

from coeval.domain import Person, Plan, Terms
from coeval.study.access import Context
from coeval.study.crowd import plans
from coeval.study.importing.importing import import_study
from tests.conftest import make_study
from tests.support.server import Running

PEOPLE, LEAVING, K = 60, 6, 3


@dataclass
class Worker:
    """One person in one browser."""

    browser: httpx.Client
    number: int
    done: list[str] = field(default_factory=list)

    def join(self) -> None:
        query = {"PROLIFIC_PID": f"{self.number:024x}", "STUDY_ID": "S1", "SESSION_ID": f"A{self.number}"}
        assert self.browser.get("/s/demo", params=query).status_code == 200
        form = {"worker": query["PROLIFIC_PID"], "study": "S1", "session": query["SESSION_ID"]}
        assert self.browser.post("/s/demo/consent", data=form).status_code == 303
        assert self.browser.post("/s/demo/begin").status_code == 303

    def work(self, at_most: int = 1000) -> None:
        step = self._open()
        while step["instance"] and at_most:
            answer = self.browser.post("/api/scrutiny/demo/submissions", json=confirm(step))
            assert answer.status_code == 200, answer.text
            self.done.append(step["instance"]["output"])
            step, at_most = answer.json()["next"], at_most - 1
            if not step["instance"]:
                step = self._open()

    def _open(self) -> Any:
        answer = self.browser.post("/api/scrutiny/demo/step")
        assert answer.status_code == 200, answer.text
        return answer.json()


def confirm(step: dict[str, Any]) -> dict[str, Any]:
    """The body of a confirm that approves every line and gives a 3."""
    evaluation = step["evaluation"]
    rows = [
        {"id": row["id"], "action": "approve"}
        for row in evaluation["rows"]
        if row["kind"] != "score" and row["id"]
    ]
    return {
        "uid": str(uuid.uuid4()),
        "instance": step["instance"]["id"],
        "criterion": step["criterion"],
        "draft": evaluation["draft"],
        "revision": evaluation["revision"],
        "score": 3,
        "rows": rows,
        "added": [],
    }


@pytest.mark.slow
def test_sixty_people_for_two_hundred_instances(context: Context, owner: Person) -> None:
    study = make_study(100)  # 200 instances
    one = tuple(study.criteria[:1])
    drafts = tuple(draft for draft in study.runs[0].drafts if draft.criterion == one[0].text)
    import_study(context, owner, replace(study, criteria=one, runs=(replace(study.runs[0], drafts=drafts),)))
    # 600 places; the 54 who stay could take 54 x 14 = 756
    plan = Plan(per_instance=K, batch=5, quota=14, terms=Terms(service="prolific", code_done="DONE"))
    plans.set_plan(context, owner, "demo", plan)
    with Running(context) as server:
        workers = [Worker(server.browser(), number) for number in range(PEOPLE)]
        leaving, staying = workers[:LEAVING], workers[LEAVING:]
        with ThreadPoolExecutor(PEOPLE) as pool:
            list(pool.map(Worker.join, workers))
            list(pool.map(lambda one: one.work(2 if one in leaving else 1000), workers))
            assert held_by_leavers(context) == LEAVING * 3  # two of a batch of five are done
            lapse(context)
            list(pool.map(Worker.work, staying))
        pages = [one.browser.get("/s/demo").text for one in staying]
    for one_ in workers:
        assert len(set(one_.done)) == len(one_.done)  # nobody twice
        assert len(one_.done) <= 14
    people_of = Counter(instance for one_ in workers for instance in one_.done)
    assert len(people_of) == 200 and set(people_of.values()) == {K}
    assert saved(context) == people_of
    assert all("DONE" in page for page in pages)


def held_by_leavers(context: Context) -> int:
    with context.store.read() as db:
        sql = "SELECT count(*) FROM reservation r JOIN assignment a USING (annotator, instance)"
        found: int = db.conn.execute(f"{sql} WHERE a.state = 'open'").fetchone()[0]
        return found


def lapse(context: Context) -> None:
    """Let an hour and more pass for whoever holds something."""
    with context.store.write() as db:
        old = "2020-01-01T00:00:00.000Z"
        held = "(SELECT annotator FROM assignment WHERE state = 'open')"
        db.conn.execute(f"UPDATE reservation SET reserved_until = ? WHERE annotator IN {held}", [old])
        db.conn.execute(f"UPDATE submission SET submitted_at = ? WHERE annotator IN {held}", [old])


def saved(context: Context) -> Counter[str]:
    with context.store.read() as db:
        sql = "SELECT i.output, count(DISTINCT s.annotator) FROM submission s JOIN instance i ON i.id = s.instance"
        sql += " GROUP BY i.id"
        return Counter(dict(db.conn.execute(sql).fetchall()))
