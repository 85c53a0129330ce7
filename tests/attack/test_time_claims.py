"""Claiming more working time than went by: evaluations opened side by side, each said to have taken all of it."""

from __future__ import annotations

import time
from dataclasses import replace

from coeval.clock import now
from coeval.usecases.access import Context
from coeval.usecases.scrutiny.steps import Where, get_step, submit
from coeval.usecases.sessions import sign_in
from tests.support.studies.scrutiny_steps import sent_of

HOUR_MS = 3_600_000


def test_all_active_time_together_is_no_more_than_went_by(context: Context) -> None:
    ana = sign_in(context, "Tia")[0]
    started, opened_at = time.monotonic(), now()
    steps = [get_step(context, ana, "demo", Where(position=position)) for position in (1, 2, 3)]
    evaluations = [
        get_step(context, ana, "demo", Where(instance=step.instance.id, criterion=criterion.id))
        for step in steps
        for criterion in step.criteria
        if step.instance
    ]
    time.sleep(0.3)
    saved = [
        submit(context, ana, "demo", replace(sent_of(one, 4), opened_at=opened_at, active_ms=HOUR_MS))
        for one in evaluations
    ]
    elapsed_ms = 1000 * (time.monotonic() - started)
    assert len(saved) == 6 and saved[0].active_ms and saved[0].active_ms >= 300
    assert sum(one.active_ms or 0 for one in saved) <= elapsed_ms + 10


def test_work_done_offline_keeps_its_time(context: Context) -> None:
    """What waited in a browser comes at once when the connection is back; each had its own stretch of time."""
    uma = sign_in(context, "Uma")[0]
    first = get_step(context, uma, "demo", Where(position=1))
    sent = []
    for criterion in first.criteria:
        assert first.instance
        one = get_step(context, uma, "demo", Where(instance=first.instance.id, criterion=criterion.id))
        opened_at = now()
        time.sleep(0.2)
        sent.append(replace(sent_of(one, 4), opened_at=opened_at, active_ms=150))
    assert [submit(context, uma, "demo", one).active_ms for one in sent] == [150, 150]
