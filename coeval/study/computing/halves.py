"""A large report on two processors, where a command has them to itself: what can go on at once does.

A server does without: there one report is computed beside people who save (``coeval.study.computing.helper``).
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
from coeval.store.queries.bulk import reports
from coeval.study.computing.study_frames import TaskFrames

LARGE = 50_000
"""Scores from which on it is worth while: a fork and what comes back from it take a tenth of a second."""


def build_in_two(study: StudyFrames) -> dict[str, Any]:
    """``build_report``, half of the sections of a large study in a process of their own."""
    return build_report(study, both=in_two) if len(study.scores) >= LARGE else build_report(study)


def in_two(here: Callable[[], Any], aside: Callable[[], Any]) -> tuple[Any, Any]:
    """The results of both, ``aside`` from a forked process, which sees what this one has in memory without a copy.

    One after the other where there is no second processor, or a fork is not safe: beside other threads, and on
    systems whose libraries do not survive one. Whatever becomes of the process, its part is then computed here.
    """
    if not _can_fork():
        return here(), aside()
    # what is there now stays where it is: looking through it for garbage would copy it
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
    """Send the result, and end without what a process does at its end: files and connections are the other's."""
    try:
        with open(answer, "wb") as pipe:
            pickle.dump(aside(), pipe, pickle.HIGHEST_PROTOCOL)
    except BaseException:
        # the other process computes it anew, and shows what goes wrong
        os._exit(1)
    os._exit(0)


def _read_answer(pipe: BinaryIO) -> tuple[Any] | None:
    try:
        return (pickle.load(pipe),)
    except (EOFError, pickle.UnpicklingError):
        return None


def read_in_two(store: Storage, db: Database, frames: TaskFrames, tables: Sequence[str]) -> StudyFrames:
    """``frames.get``, the further tables read meanwhile through a second connection.

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
