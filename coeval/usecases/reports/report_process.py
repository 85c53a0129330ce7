"""A process that computes statistics of one task from one state of the file, and then ends.

``python -m coeval.usecases.reports.report_process`` imports the libraries and waits. It receives a file and a
task, reads them in one transaction, and answers with results; messages are pickles on its standard input and
output. It ends when it has had no request for a while, and when its parent ends.
"""

from __future__ import annotations

import os
import pickle
import select
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

from coeval.errors import StorageError
from coeval.settings import bare_environment
from coeval.stats.frames import StudyFrames
from coeval.store import Database, open_store
from coeval.store.queries import reports, tasks
from coeval.usecases.reports.task_frames import TaskFrames

IDLE_SECONDS = 60.0
"""Seconds that the tables are kept after the last request."""

PAUSE_SECONDS = 0.2
"""After this pause without requests, the remaining tables are read, so that the transaction can end."""

NICE = 10
"""The priority of the process: people who save come first."""

Statistic = Callable[[StudyFrames], Any]


class HelperEndedError(StorageError):
    """The process has ended, and the state that it had read is lost."""


@dataclass(frozen=True, slots=True)
class Opened:
    """The state of the file that the process has read, and its time."""

    fingerprint: tuple[Any, ...]
    seconds: float


class Helper:
    """The process, as its parent sees it."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "coeval.usecases.reports.report_process"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=Path(__file__).parents[3],
            # one thread for linear algebra: the other core is for the people who save
            env=bare_environment(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1"),
            start_new_session=True,
        )

    def open(self, address: str, slug: str) -> Opened:
        """Let the process read a task.

        Raises:
            HelperEndedError: the process cannot read it.
        """
        opened: Opened = self._ask((address, slug))
        return opened

    def compute(self, statistic: Statistic, tables: tuple[str, ...]) -> Any:
        """Return the result of a pure function of the frames, or raise its error here.

        The process imports the function's module, so the function must be in a module of statistics, not of a
        page.

        Raises:
            HelperEndedError: the process has ended.
        """
        return self._ask((statistic, tables))

    def _ask(self, question: Any) -> Any:
        questions, answers = self._process.stdin, self._process.stdout
        assert questions is not None and answers is not None
        try:
            pickle.dump(question, questions)
            questions.flush()
            error, answer = pickle.load(answers)
        except (OSError, EOFError, ValueError, pickle.UnpicklingError) as ended:
            self.close()
            raise HelperEndedError(
                "The process that computed this report stopped early: try again. If it happens again, "
                "check whether the machine runs out of memory."
            ) from ended
        if error is not None:
            raise error
        return answer

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def close(self) -> None:
        """End the process immediately."""
        self._process.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
        self._process.wait()


# ---- inside the process ---------------------------------------------------------------------------------------------


def answer_questions(questions: BinaryIO, answers: BinaryIO) -> None:
    """Read the requested task, then answer until no more requests come."""
    address, slug = pickle.load(questions)
    store, started = open_store(address, read_only=True), time.perf_counter()
    with store.read() as db:
        task = tasks.get_task(db, slug)
        if task is None:
            raise LookupError(f"there is no task {slug}")
        fingerprint, frames = reports.get_fingerprint(db, task.id), TaskFrames(task)
        frames.get(db)
        _send(answers, None, Opened(fingerprint, time.perf_counter() - started))
        while _is_asked(questions, PAUSE_SECONDS):
            _answer(questions, answers, frames, db)
        frames.read_more(db)
    while _is_asked(questions, IDLE_SECONDS):
        _answer(questions, answers, frames, db)


def _is_asked(questions: BinaryIO, seconds: float) -> bool:
    return bool(select.select([questions], [], [], seconds)[0])


def _answer(questions: BinaryIO, answers: BinaryIO, frames: TaskFrames, db: Database) -> None:
    statistic, tables = pickle.load(questions)
    try:
        error, answer = None, statistic(frames.get(db, tables))
    except Exception as failure:
        error, answer = failure, None
    _send(answers, error, answer)


def _send(answers: BinaryIO, error: Exception | None, answer: Any) -> None:
    answers.write(pickle.dumps((error, answer), pickle.HIGHEST_PROTOCOL))
    answers.flush()


def load_libraries(*names: str) -> None:
    """Import SciPy's lazily loaded modules before anybody waits for them."""
    for name in names:
        import_module(f"scipy.{name}")


def main() -> None:
    os.nice(NICE)
    load_libraries("sparse", "special")  # for people's alphas, which are requested first
    # only answers may be written to this stream
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    # unbuffered, because select does not see buffered data
    questions = os.fdopen(os.dup(0), "rb", buffering=0)
    if not _is_asked(questions, PAUSE_SECONDS):
        load_libraries("stats")
    with suppress(EOFError):  # the parent has gone
        answer_questions(questions, answers)


if __name__ == "__main__":
    # the name that pickle uses for this module
    from coeval.usecases.reports import report_process

    report_process.main()
