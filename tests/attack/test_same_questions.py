"""Opening a check asks the database the same questions as opening work, so that its time does not tell it."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from pathlib import Path

from coeval.domain import Arm, Plan
from coeval.rules.arms import Design
from coeval.settings import load_settings
from coeval.store import Store
from coeval.store.queries import assignments, tasks
from coeval.usecases.access import Context
from coeval.usecases.crowd.assignment import ensure_work
from coeval.usecases.scrutiny.policies import may_open
from coeval.usecases.scrutiny.queue import require_set
from tests.support.studies.planted_study import admit, open_planted_study

BATCH, PEOPLE = 12, 15


def test_a_check_is_opened_by_the_same_questions_as_work(tmp_path: Path) -> None:
    context = Context(Store(tmp_path / "coeval.db"), load_settings({}, db=tmp_path / "coeval.db"))
    # an error is planted so rarely that none is here: to write one takes a statement of its own
    design = Design(blind_share=0.2, first_share=0.2, planted_share=1e-9)
    open_planted_study(context, 60, 20, design, Plan(per_instance=10, batch=BATCH, quota=BATCH))
    asked: defaultdict[tuple[bool, Arm], list[Counter[str]]] = defaultdict(list)
    for number in range(PEOPLE):
        person, _ = admit(context, f"Worker {number}")
        with context.store.write() as db:
            task = tasks.get_task(db, "demo")
            assert task is not None
            ensure_work(context, person, task)
            current = require_set(db, task)
            rows = db.conn.execute("SELECT instance FROM reservation WHERE purpose = 'check'").fetchall()
            checks = {instance for (instance,) in rows}
            for position in range(1, BATCH + 1):
                assignment = assignments.get_assignment(db, person.id, task.id, position)
                if assignment is None:
                    break
                log: list[str] = []
                db.conn.set_trace_callback(log.append)
                opened = may_open(db, task, person, assignment, current.criteria)
                db.conn.set_trace_callback(None)
                assert opened.arm is not None
                shapes = Counter(re.sub(r"'[^']*'|\d+(\.\d+)?(e-\d+)?", "?", sql) for sql in log)
                asked[opened.instance in checks, opened.arm].append(shapes)
    arms = {Arm.ASSISTED, Arm.BLIND, Arm.FIRST}
    assert {arm for check, arm in asked if check} == {arm for check, arm in asked if not check} == arms
    for arm in arms:
        for one in asked[True, arm]:
            assert one in asked[False, arm], one
