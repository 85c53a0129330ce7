"""The demo task that comes with the project: whole, marked as such, its mistakes sown on purpose."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from coeval.datasets import load_demo, load_study
from coeval.domain import Proposal, Study

FOLDER = Path(__file__).resolve().parents[3] / "data" / "demo"


@pytest.fixture(scope="module")
def demo() -> tuple[Study, tuple[Proposal, ...]]:
    return load_demo(FOLDER / "study.json")


def test_every_pair_has_a_draft(demo: tuple[Study, tuple[Proposal, ...]]) -> None:
    study, _ = demo
    assert len(study.instances) == 15 and len(study.criteria) == 5
    assert len({one.document for one in study.instances}) == 5
    assert {one.system for one in study.instances} == {"system A", "system B", "system C"}
    pairs = {(one.instance, one.criterion) for one in study.runs[0].drafts}
    assert pairs == {(one.external_id, each.text) for one in study.instances for each in study.criteria}
    assert len(study.runs[0].drafts) == len(pairs) == 75


def test_the_ballot_holds_the_criteria_and_two_to_refuse(demo: tuple[Study, tuple[Proposal, ...]]) -> None:
    study, proposals = demo
    texts = {one.text for one in proposals}
    assert {one.text for one in study.criteria} < texts and len(texts) == 7


def test_only_the_sown_quotes_are_not_in_the_reply(demo: tuple[Study, tuple[Proposal, ...]]) -> None:
    study, _ = demo
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
