"""A run that is drafted elsewhere: ``python -m tests.benchmarks batch [--answers 200000]``.

The questions of so many judgments are written to batch files, an answer to each is made up, and one command reads the
files that came back and makes the drafts. The same once more must change nothing. Every command is a process of its
own; its peak memory stands beside that for a tenth of the answers. Ends with 1 where a goal is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import sqlite3
import tempfile
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks.parts.large import CRITERIA, write_instances, write_ratings
from tests.benchmarks.parts.size_run import Ran, coeval

MEMORY_GOAL = 1.5
"""Of ten times the answers."""
RUN = ("--model", "a-model", "--protocol", "score-only", "--samples", 1, "--label", "elsewhere")


@dataclass(frozen=True, slots=True)
class Round:
    """What the commands took, and what they left in the file."""

    answers: int
    write: Ran
    read: Ran
    again: Ran
    kept: tuple[int, int, int]
    """Calls, drafts with a score, and the same after reading once more."""


def measure(folder: Path, answers: int) -> Round:
    """Write, answer and read so many questions, in a folder of their own."""
    folder.mkdir()
    db = folder / "study.db"
    instances = answers // len(CRITERIA)
    described = ["--description", "Answer a question."]
    coeval("import", write_instances(folder / "i.csv", instances), "--task", "answers", *described, db=db)
    # two ratings bring the criteria
    coeval("import", write_ratings(folder / "r.csv", 1, len(CRITERIA)), "--task", "answers", db=db)
    write = coeval("batch", "write", "--task", "answers", *RUN, "--out", folder / "q.jsonl", db=db)
    results = [answer(path) for path in sorted(folder.glob("q*.jsonl"))]
    read = coeval("batch", "read", *results, db=db)
    first = count(db)
    again = coeval("batch", "read", *results, db=db)
    if count(db) != first:
        raise RuntimeError(f"read once more, the file holds {count(db)} in the place of {first}")
    return Round(answers, write, read, again, first)


def answer(questions: Path) -> Path:
    """A file of results: to every question an answer, as a batch service gives it."""
    results = questions.with_name(questions.name.replace("q", "r", 1))
    with questions.open(encoding="utf-8") as file, results.open("w", encoding="utf-8") as out:
        for number, line in enumerate(file):
            message = {"role": "assistant", "content": f"Score: {1 + number % 5}"}
            body = {
                "model": "a-model",
                "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 300, "completion_tokens": 3},
            }
            name = json.loads(line)["custom_id"]
            out.write(json.dumps({"custom_id": name, "response": {"status_code": 200, "body": body}}) + "\n")
    return results


def count(path: Path) -> tuple[int, int, int]:
    """Calls in the ledger, drafts, and drafts with a score."""
    with closing(sqlite3.connect(path)) as db:
        asked = ("call", "draft", "draft WHERE status = 'ok'")
        calls, drafts, scored = (db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in asked)
    return calls, drafts, scored


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks batch", description=__doc__)
    parser.add_argument("--answers", type=int, default=200_000)
    options = parser.parse_args(argv)
    print(f"load of the machine before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores", flush=True)
    rounds = []
    with tempfile.TemporaryDirectory() as folder:
        for answers in (options.answers // 10, options.answers):
            rounds.append(measure(Path(folder) / str(answers), answers))
            show(rounds[-1])
    few, many = rounds
    ratio = max(many.read.peak_mb / few.read.peak_mb, many.again.peak_mb / few.again.peak_mb)
    whole = all(round.kept == (round.answers,) * 3 for round in rounds)
    print(
        f"{'met' if whole else 'MISSED'}: a call and a draft with a score for every answer, also when read twice"
    )
    print(f"{'met' if ratio <= MEMORY_GOAL else 'MISSED'}: memory x {ratio:.2f}, at most {MEMORY_GOAL:g}")
    return 0 if whole and ratio <= MEMORY_GOAL else 1


def show(done: Round) -> None:
    for name in ("write", "read", "again"):
        ran: Ran = getattr(done, name)
        print(f"{done.answers:>9,} answers, {name:5}: {ran.seconds:7.1f} s {ran.peak_mb:6.0f} MB", flush=True)
