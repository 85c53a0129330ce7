"""A large report computed on two processors is the one computed on one, whatever becomes of the second process."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from itertools import count

import pytest

from coeval.stats import build_report
from coeval.store.queries import tasks
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.reports import halves
from coeval.usecases.reports.statistics import EVERY, get_frames, get_report, use_two_processors
from coeval.usecases.reports.task_frames import TaskFrames
from coeval.usecases.study_import import import_study
from tests.support.studies.scored_study import scored

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are forked on Linux alone")


@pytest.fixture
def context(context: Context, monkeypatch: pytest.MonkeyPatch) -> Context:
    """A study that counts as large, on a machine where a process may be forked."""
    import_study(context, OPERATOR, scored(["Ann", "Ben", "Cid"], blind=1))
    monkeypatch.setattr(halves, "LARGE", 0)
    monkeypatch.setattr(halves, "_can_fork", lambda: True)
    return context


@pytest.fixture(autouse=True)
def forked(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """The processes that a test has forked, all of which must be gone at its end."""
    processes: list[int] = []
    fork = os.fork

    def remember() -> int:
        process = fork()
        processes.append(process)
        return process

    monkeypatch.setattr(os, "fork", remember)
    yield processes
    for process in processes:
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)


@pytest.mark.slow
def test_the_report_in_two_halves_is_the_whole(context: Context, forked: list[int]) -> None:
    use_two_processors(context)
    found = get_report(context, OPERATOR, "demo")
    assert len(forked) == 1
    alone = build_report(get_frames(context, OPERATOR, "demo"))
    assert found == alone and list(found) == list(alone)


@pytest.mark.slow
def test_the_second_half_is_of_another_process(context: Context) -> None:
    here, aside = halves.in_two(os.getpid, os.getpid)
    assert here == os.getpid() != aside


@pytest.mark.slow
def test_a_second_process_that_is_killed_is_made_good(context: Context) -> None:
    own = os.getpid()

    def aside() -> str:
        if os.getpid() != own:
            os.kill(os.getpid(), signal.SIGKILL)
        return "computed here"

    assert halves.in_two(lambda: "first", aside) == ("first", "computed here")


def test_beside_other_threads_nothing_is_forked(forked: list[int]) -> None:
    done = threading.Event()
    other = threading.Thread(target=done.wait)
    other.start()
    try:
        assert halves.in_two(os.getpid, os.getpid) == (os.getpid(), os.getpid())
    finally:
        done.set()
        other.join()
    assert not forked


@pytest.mark.slow
def test_what_goes_wrong_in_either_half_is_raised_here(context: Context) -> None:
    def fail() -> None:
        raise ValueError("no figures")

    for both in ((fail, os.getpid), (os.getpid, fail)):
        with pytest.raises(ValueError, match="no figures"):
            halves.in_two(*both)


def test_tables_read_meanwhile_count_only_if_the_file_stood_still(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    with context.store.read() as db:
        task = tasks.get_task(db, "demo")
        assert task
        expected = TaskFrames(task).get(db, EVERY)
        still = halves.read_in_two(context.store, db, TaskFrames(task), EVERY)
        states, asked = count(), []

        def read(frames: TaskFrames, other: object, names: object = EVERY) -> None:
            asked.append(other is db)
            read_more(frames, other, names)  # type: ignore[arg-type]

        read_more = TaskFrames.read_more
        monkeypatch.setattr(TaskFrames, "read_more", read)
        monkeypatch.setattr(halves.reports, "get_fingerprint", lambda *_: next(states))
        moved = halves.read_in_two(context.store, db, TaskFrames(task), EVERY)
    assert asked and all(asked)
    for found in (still, moved):
        for name in ("scores", *EVERY):
            assert getattr(found, name).equals(getattr(expected, name)), name
