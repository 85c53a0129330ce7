"""Phrases that readers did not understand, or that speak of files and drafts as persons, stay out of every text."""

from __future__ import annotations

import re
from pathlib import Path

COEVAL = Path(__file__).resolve().parents[2] / "coeval"
TEXTS = (".py", ".js", ".md", ".html", ".txt", ".css")

KEPT = {"vendor", "migrations"}
"""Others' texts, and what was released and is never edited."""

RETIRED = {
    "state a task": "describe your task",
    "states? the first task": "describes the first task",
    "every call is kept in the ledger": "answers are saved; repeat runs are free",
    "paid for twice": "repeat runs are free",
    r"sown,? %": "planted errors, %",
    "active time stands still without": "pause the timer after ... seconds without activity",
    "what is left lying": "unfinished work",
    "these figures ask": "hints, not verdicts",
    "they do not judge": "hints, not verdicts",
    "code for who": "code if ...",
    "is never one of them": "is kept separate from annotators' scores",
    "without this annotator is undefined": "needs at least three annotators",
    "frozen by command line": "fixed by the demo",
    "brings? nobody": "is refused, or no longer works",
    "nobody is called so": "no person matches",
    "look back on": "review",
    "given? the task out by": "save the plan",
    "alpha of the second ratings is undefined": "no blind scores yet",
}
"""What was said, as a pattern, and what is said instead."""


def test_no_text_uses_a_retired_phrase() -> None:
    """One test that lists every offender."""
    readme = COEVAL.parent / "README.md"
    files = [path for path in COEVAL.rglob("*") if path.suffix in TEXTS and not KEPT & set(path.parts)]
    offenders = [
        f"{path.relative_to(COEVAL.parent)}:{number}: “{said.group()}”; write “{instead}”"
        for path in (readme, *files)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        for pattern, instead in RETIRED.items()
        if (said := re.search(rf"\b{pattern}", line, re.IGNORECASE))
    ]
    assert not offenders, "\n".join(offenders)
