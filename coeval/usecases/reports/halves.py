"""Build a large report on two processors, if a command has them to itself.

A server does without: there one report is computed beside people who save (``coeval.usecases.reports.report_process``).
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, BinaryIO

from coeval.errors import StorageError
from coeval.stats import build_report
from coeval.stats.frames import StudyFrames
from coeval.store import Database, Storage
from coeval.store.queries import reports
from coeval.usecases.reports.task_frames import TaskFrames

LARGE = 50_000
"""Number of scores from which a fork pays off: fork and transfer take a tenth of a second."""


def build_in_two(study: StudyFrames) -> dict[str, Any]:
    """Build the report like ``build_report``, with half of a large study's sections in a second process."""
    return build_report(study, both=in_two) if len(study.scores) >= LARGE else build_report(study)


def in_two(here: Callable[[], Any], aside: Callable[[], Any]) -> tuple[Any, Any]:
    """Return both results; ``aside`` runs in a forked process, which shares this one's memory.

    One after the other if there is no second processor, or a fork is not safe: beside other threads, and on
    systems whose libraries do not survive one. Whatever becomes of the process, its part is then computed here.
    """
    if not _can_fork():
        return here(), aside()
    # keep existing objects in place: a garbage collection would copy them
    gc.collect()
    gc.freeze()
    answers, answer = os.pipe()
    process = os.fork()
    if not process:
        os.close(answers)
        _answer(aside, answer)
    os.close(answer)
    try:
        with open(answers, "rb") as pipe:
            own = here()
            found = _read_answer(pipe)
    finally:
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        gc.unfreeze()
    return own, found[0] if found else aside()


def _can_fork() -> bool:
    if sys.platform != "linux" or threading.active_count() > 1:
        return False
    return len(os.sched_getaffinity(0)) > 1


def _answer(aside: Callable[[], Any], answer: int) -> None:
    """Send the result, and exit without clean-up, because files and connections belong to the other process."""
    try:
        with open(answer, "wb") as pipe:
            pickle.dump(aside(), pipe, pickle.HIGHEST_PROTOCOL)
    except BaseException:
        # the other process computes it again, and reports its errors
        os._exit(1)
    os._exit(0)


def _read_answer(pipe: BinaryIO) -> tuple[Any] | None:
    try:
        return (pickle.load(pipe),)
    except (EOFError, pickle.UnpicklingError):
        return None


def read_in_two(store: Storage, db: Database, frames: TaskFrames, tables: Sequence[str]) -> StudyFrames:
    """Read frames like ``frames.get``; a second connection reads the other tables at the same time.

    What it reads counts only if it sees the same state of the file.
    """
    state = reports.get_fingerprint(db, frames.task.id)

    def read_ahead() -> None:
        with suppress(StorageError), store.read() as other:
            if reports.get_fingerprint(other, frames.task.id) == state:
                frames.read_more(other, tables)

    thread = threading.Thread(target=read_ahead, name="tables of a report", daemon=True)
    thread.start()
    frames.get(db)
    thread.join()
    return frames.get(db, tables)
