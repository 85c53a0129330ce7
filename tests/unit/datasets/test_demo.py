"""The demo task that comes with the project: its mistakes are sown on purpose, and it imports under any name."""

from __future__ import annotations

import json
from pathlib import Path

from coeval.datasets import load_demo, load_study

FOLDER = Path(__file__).resolve().parents[3] / "data" / "demo"


def test_only_the_sown_quotes_are_not_in_the_reply() -> None:
    study, _ = load_demo(FOLDER / "study.json")
    drafts = json.loads((FOLDER / "study.json").read_text(encoding="utf-8"))["drafts"]
    sown = {
        (one["instance"], one["criterion"]) for one in drafts if "not in the reply" in one.get("sown", "")
    }
    names = {one.text: one.name for one in study.criteria}
    unfound = [
        (one.instance, names[one.criterion])
        for one in study.runs[0].drafts
        for row in one.rows
        for quote in row.quotes
        if not quote.found
    ]
    assert len(unfound) == 3 and set(unfound) == sown
    assert sum("sown" in one for one in drafts) == 8


def test_the_demo_imports_under_any_name_and_the_answers_by_their_columns() -> None:
    assert load_study(FOLDER / "study.json", slug="mine").task.slug == "mine"
    answers = load_study(FOLDER / "new_answers.csv", slug="mine")
    assert len(answers.instances) == 10 and len({one.document for one in answers.instances}) == 5
