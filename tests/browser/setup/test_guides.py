"""How to score by a criterion: an owner writes it on the Criteria tab, an annotator reads it beside the score."""

from __future__ import annotations

from typing import Any

from tests.support.screens.axe import faults_in_both_themes
from tests.support.screens.bench import CRITERIA, Bench
from tests.support.screens.ui_steps import press, settle


def test_written_by_the_owner_and_read_beside_the_score(page: Any, bench: Bench) -> None:
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    bench.ensure_study()
    bench.sign_in(page, "Olu")
    page.goto(f"{bench.root}/?task={bench.slug}")
    page.get_by_role("button", name="Definitions, scores and examples").click()
    settle(page)
    page.get_by_label("Definition", exact=True).fill("Words that a child of five knows.")
    page.get_by_label("What the scores mean").fill(
        "1: a child understands nothing\n4: a child follows it\n9: no score"
    )
    page.get_by_label("Examples").fill("| word | simple |\n|---|---|\n| cat | yes |")
    assert faults_in_both_themes(page) == []
    page.locator("#guide-save").click()
    page.get_by_text("“9: no score” describes no score from 1 to 5").wait_for()
    page.get_by_label("What the scores mean").fill("1: a child understands nothing\n4: a child follows it")
    page.locator("#guide-save").click()
    page.locator("#criteria-main").get_by_text("Words that a child of five knows.").wait_for()
    page.locator("#guide-criterion input").click()
    page.get_by_role("option", name=CRITERIA[1]).click()
    page.wait_for_function("document.querySelector('#guide-definition textarea').value === ''")

    bench.open_bench(page, name="Ana")
    page.get_by_text("Words that a child of five knows.").wait_for()
    meanings = page.get_by_role("list", name="What the scores mean")
    assert meanings.locator("li").all_inner_texts() == [
        "1 a child understands nothing",
        "4 a child follows it",
    ]
    press(page, "a", "4")
    assert meanings.locator(".is-on").inner_text() == "4 a child follows it"
    page.get_by_text("Examples", exact=True).click()
    assert page.locator(".wb-examples table").is_visible()
    assert faults_in_both_themes(page) == []
    page.locator(".wb-chip").nth(1).click()
    page.get_by_role("heading", name=CRITERIA[1]).wait_for()
    assert not meanings.is_visible() and not page.locator(".wb-examples").is_visible()
