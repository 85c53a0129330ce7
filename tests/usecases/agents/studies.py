"""Three small tables of texts: without ratings, with ratings of two people, and outputs of two systems."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

QUESTIONS = ("Why is the sky blue?", "Why does bread rise?", "Why do cats purr?", "Why is the sea salty?")
CRITERIA = ("The answer is true.", "The answer is short.")


@dataclass(frozen=True)
class Table:
    """The files of one study, by the names that the skill page gives them."""

    slug: str
    pairwise: bool
    answers: str
    ratings: str = ""


def write_csv(path: Path, head: list[str], lines: list[list[object]]) -> str:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([head, *lines])
    return str(path)


def write_tables(folder: Path) -> list[Table]:
    def answer(word: str) -> list[list[object]]:
        return [[n, question, f"{word} of cause {n}."] for n, question in enumerate(QUESTIONS, 1)]

    plain = write_csv(folder / "plain.csv", ["instance", "input", "output"], answer("Because"))
    rated = write_csv(folder / "rated.csv", ["instance", "input", "output"], answer("By reason"))
    scores: list[list[object]] = [
        [n, criterion, person, 1 + (n + len(criterion) + (person == "Bo" and n == 2)) % 5]
        for n in range(1, 5)
        for criterion in CRITERIA
        for person in ("Ada", "Bo")
    ]
    ratings = write_csv(folder / "ratings.csv", ["instance", "criterion", "annotator", "score"], scores)
    two: list[list[object]] = [
        [f"{n}{system}", f"d{n}", system, question, f"System {system} knows cause {n}" + "." * n]
        for n, question in enumerate(QUESTIONS, 1)
        for system in "ab"
    ]
    pairs = write_csv(folder / "pairs.csv", ["instance", "document", "system", "input", "output"], two)
    return [Table("plain", False, plain), Table("rated", False, rated, ratings), Table("pairs", True, pairs)]
