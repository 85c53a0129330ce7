"""The Agreement tab in Chromium: version and arm are chosen for the whole tab."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from playwright.sync_api import expect

from coeval.usecases.criteria_sets import establish_list
from coeval.usecases.sessions import sign_in
from coeval.usecases.study_import import import_study
from tests.support.screens.ui_steps import enter, unfold
from tests.support.serving.server import Running, new_context
from tests.support.studies.scored_study import scored


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Three people scored two criteria; a quarter of it blind; a second version keeps one of the two.

    The model gave every other score only when it was asked again. In the study “blind”, twelve of sixteen documents
    were scored without the draft, which is enough for a headline.
    """
    context = new_context(tmp_path_factory.mktemp("basis"))
    owner = sign_in(context, "Olu")[0]
    study = scored(["Ann", "Ben", "Cid"], n_documents=8, blind=2)
    (run,) = study.runs
    drafts = [
        replace(draft, rung="asked again" if n % 4 < 2 else "schema") for n, draft in enumerate(run.drafts)
    ]
    task = replace(study.task, output_field="Reply")
    import_study(context, owner, replace(study, task=task, runs=(replace(run, drafts=tuple(drafts)),)))
    establish_list(context, owner, "demo", ["Use simple words.", "Name a source."])
    led = scored(["Ann", "Ben", "Cid"], n_documents=16, blind=12)
    import_study(context, owner, replace(led, task=replace(led.task, slug="blind")))
    with Running(context) as live:
        yield live


def choose(page: Any, name: str, label: str) -> None:
    if not page.locator(f"#agreement-{name} input").is_visible():
        page.locator("#agreement-scope summary").click()
    page.locator(f"#agreement-{name} input").click()
    page.get_by_role("option", name=label).click()


def test_version_arm_and_asking_again_are_chosen_for_the_whole_tab(page: Any, server: Running) -> None:
    enter(page, server.url, "Olu")
    page.goto(f"{server.url}/?task=demo&tab=agreement")
    tiles, scope = page.locator("#agreement-tiles"), page.locator("#agreement-scope")
    tiles.locator("[data-whole=yes]").wait_for()
    assert "criteria version 2 · all arms" in scope.inner_text()
    assert "asking again" not in scope.inner_text()
    choose(page, "again", "Scores from asking again counted")
    scope.get_by_text("scores from asking again counted").wait_for()
    choose(page, "again", "Scores from asking again left out")
    scope.get_by_text("scores from asking again counted").wait_for(state="detached")
    choose(page, "version", "Criteria version 1")
    scope.get_by_text("criteria version 1 · all arms").wait_for()
    # what was opened stays open while the page is computed again
    assert page.locator("#agreement-version input").is_visible()
    page.locator("#agreement-section label", has_text="Effect of the draft").click()
    page.locator("#agreement-tiles [data-section=draft][data-whole=yes]").wait_for()
    assert "criteria version 1 · 96 scores: 72 with the draft in view, 24 without the draft (blind arm)" in (
        scope.inner_text()
    )
    page.goto(f"{server.url}/?task=blind&tab=agreement")
    tiles.locator("[data-whole=yes]").wait_for()
    assert "blind and first scores" in scope.inner_text() and "all arms" not in scope.inner_text()
    assert "measured without the draft" in tiles.inner_text()
    choose(page, "arm", "All arms")
    scope.get_by_text("all arms").wait_for()
    tiles.get_by_text("measured with the draft in view for 25% of the scores").wait_for()
    assert "blind and first scores" not in scope.inner_text()


def test_an_owner_goes_from_agreement_to_adjudication_and_on_to_the_next(page: Any, server: Running) -> None:
    """Nothing on Agreement led there, and a decision led back to the top of the list, past what was below."""
    page.set_viewport_size({"width": 1440, "height": 900})
    enter(page, server.url, "Olu")
    page.goto(f"{server.url}/?task=demo&tab=agreement")
    link, tiles = page.get_by_role("link", name="Adjudicate disagreements"), page.locator(".tiles:visible")
    link.wait_for()
    page.locator("#agreement-tiles [data-whole=yes]").first.wait_for()
    edge, box = tiles.first.bounding_box(), link.bounding_box()
    assert edge and box and box["y"] >= edge["y"] + edge["height"] + 8
    link.click()
    radios = page.locator("#review-differing input[type=radio]")
    radios.nth(2).wait_for()
    text = page.locator("#review-comparison h4", has_text="Reply")  # the name that annotators read
    text.wait_for()
    count = radios.count()
    page.get_by_text(f"Largest disagreements · {count} of {count} open").wait_for()
    unfold(page, "How people work")
    page.locator("#review-habits").get_by_text("Do people still read the drafts?").wait_for()
    heads = page.locator("#review-comparison table").get_by_role("columnheader").all_inner_texts()
    assert heads[1:] == ["Drafted", "Ann", "Ben", "Cid"]
    heading = page.locator("#review-comparison h4").first
    before = heading.inner_text()
    radios.nth(1).check()
    page.wait_for_function(
        "old => document.querySelector('#review-comparison h4').innerText !== old", arg=before
    )
    lefts = page.locator("#review-differing label").evaluate_all(
        "all => all.map((label) => label.offsetLeft)"
    )
    assert len(set(lefts)) == 1, "the list is one column, which scrolls down"
    page.evaluate("scrollTo(0, 0)")
    end = page.get_by_role("button", name="Record the decision").bounding_box()
    assert end and end["y"] + end["height"] <= 900, "a decision needs no scrolling"
    page.locator("#review-score input").first.check()
    page.locator("#review-note textarea").fill("between the two")
    page.get_by_role("button", name="Record the decision").click()
    page.get_by_text(f"Largest disagreements · {count - 1} of {count} open").wait_for()
    page.locator("#review-differing").get_by_text("decided 1").wait_for()
    expect(radios.nth(2)).to_be_checked()
