"""Set-up, Pre-fill in Chromium: the question can be read before anything is paid."""

from __future__ import annotations

import asyncio
import itertools
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.drafting.execution import run_drafting
from coeval.usecases.drafting.run_settings import RunSettings
from coeval.usecases.sessions import sign_in
from coeval.usecases.study_import import import_study
from coeval.usecases.tasks import show_run
from tests.conftest import make_study
from tests.support.models.openai_stub import Stub, start_stub
from tests.support.models.stub_answers import default_reply
from tests.support.screens.browser import HOW_TO_GET_IT
from tests.support.screens.ui_steps import enter, unfold
from tests.support.serving.server import Running, new_context

expect = pytest.importorskip("playwright.sync_api", reason=HOW_TO_GET_IT).expect


NUMBERS = itertools.count(1)


@pytest.fixture(scope="module")
def stub() -> Iterator[Stub]:
    with start_stub(decides=True) as live:
        yield live


@pytest.fixture(scope="module")
def context(stub: Stub, tmp_path_factory: pytest.TempPathFactory) -> Context:
    env = {"OPENAI_BASE_URL": stub.url, "COEVAL_MODEL": "m"}
    context = new_context(tmp_path_factory.mktemp("prefill"), demo=True, **env)
    sign_in(context, "Owner")
    return context


@pytest.fixture(scope="module")
def server(context: Context) -> Iterator[Running]:
    with Running(context) as live:
        yield live


@pytest.fixture(autouse=True)
def usual_answers(stub: Stub) -> Iterator[None]:
    yield
    stub.reply, stub.latency = default_reply, 0.0


def add_study(context: Context, documents: int = 1, *, drafted: bool = False) -> str:
    """The short name of a new study, with a description of its own: the ledger would repeat another's answers."""
    study, slug = make_study(documents), f"study-{next(NUMBERS)}"
    task = replace(study.task, slug=slug, description=f"Answer the question: {slug}.")
    import_study(context, OPERATOR, replace(study, task=task, runs=study.runs if drafted else ()))
    return slug


def open_prefill(page: Any, server: Running, slug: str) -> None:
    enter(page, server.url, "Owner")
    page.goto(f"{server.url}/admin/?task={slug}&tab=prefill")
    unfold(page)
    page.locator("#prefill-protocol input").first.wait_for()


def test_decisions_are_drafted_and_explained(page: Any, server: Running, context: Context) -> None:
    open_prefill(page, server, add_study(context))
    page.locator("#prefill-protocol input").first.click()
    page.get_by_role("option", name="decision: ").click()
    page.locator("#prefill-explain input").first.click()
    page.get_by_role("option", name="Every decision").click()
    page.locator("#prefill-question").click()
    page.locator("#prefill-note").get_by_text("Question for a decision: score").first.wait_for()
    page.locator("#prefill-estimate").click()
    page.locator("#prefill-note").get_by_text("An estimate holds the decisions alone").wait_for()
    page.locator("#prefill-start").click()
    page.locator("#jobs").get_by_text("m · decision · explained all").first.wait_for(timeout=60_000)
    page.locator("#jobs").get_by_text(re.compile(r"explained all: \d+ drafted, ")).wait_for(timeout=60_000)


def test_a_refused_start_says_so_beside_its_button(page: Any, server: Running, context: Context) -> None:
    open_prefill(page, server, add_study(context))
    page.get_by_label("Run label").fill("small")
    page.locator("#prefill-start").click()
    page.locator("#jobs").get_by_text(re.compile(r"small: \d+ drafted, ")).wait_for(timeout=60_000)
    page.get_by_label("Temperature").fill("0.5")
    page.locator("#prefill-start").click()
    expect(page.locator("#prefill-note [role=alert]")).to_contain_text("another label, under More settings")


def test_a_preset_fills_in_the_form_and_brings_its_criteria(page: Any, server: Running) -> None:
    open_prefill(page, server, "demo")
    page.locator("#prefill-question").click()
    question = page.locator("#prefill-note .question")
    question.get_by_text("Judge by this criterion and by nothing else").wait_for()
    text = question.inner_text()
    assert text.index("<sample_output") < text.index("## Criterion") < text.index("## How to answer")
    preset = page.locator("#prefill-preset input").first
    preset.click()
    page.get_by_role("option", name="G-Eval, dialogue").click()
    page.locator("#preset-about").get_by_text("auto-CoT").first.wait_for()
    expect(page.locator("#prefill-protocol input").first).to_have_value("score-only: The score alone")
    expect(page.get_by_label("Samples per item")).to_have_value("20")
    expect(page.locator("#prefill-more").get_by_label("Temperature")).to_have_value("1")
    expect(page.locator("#prefill-templates textarea, #prefill-templates input").first).to_have_value(
        "g-eval"
    )
    page.locator("#preset-criteria").click()
    page.locator("#preset-about").get_by_text("Groundedness, 0-1").wait_for()
    page.locator("#prefill-question").click()
    question.get_by_text("Your task is to rate the Reply on one criterion").wait_for()
    assert question.inner_text().endswith("Score: <number>")


def test_the_page_follows_a_run_and_shows_what_is_unscored(
    page: Any, server: Running, context: Context, stub: Stub
) -> None:
    stub.reply = lambda body: "No idea at all."
    open_prefill(page, server, add_study(context))
    page.get_by_role("textbox", name="Run label").fill("junk")
    page.locator("#prefill-start").click()
    # the job ends by itself, and the page says so without a reload
    row = page.locator("#runs tr", has_text="junk")
    expect(row).to_contain_text("junkcoeval04")
    expect(row).not_to_contain_text("shown")  # nobody could review any of its drafts
    page.get_by_role("button", name="How scores were obtained").click()
    forms = page.locator("#rungs-forms")
    expect(forms).to_contain_text("100% in no form; 100% after asking again")
    stub.reply = default_reply
    page.locator("#job-retry").click()
    expect(row).to_contain_text("junkcoeval40shown")
    expect(forms).to_contain_text("0% in no form; 0% after asking again; answers by schema: on.")


def test_a_stopped_run_without_drafts_is_not_shown_and_a_later_one_can_be(
    page: Any, server: Running, context: Context, stub: Stub
) -> None:
    open_prefill(page, server, add_study(context))
    label = page.get_by_role("textbox", name="Run label")
    for name, latency in (("empty", 30.0), ("second", 0.0), ("third", 0.0)):
        stub.latency = latency
        label.fill(name)
        page.locator("#prefill-start").click()
        row = page.locator("#runs tr", has_text=name)
        row.wait_for()
        if name == "empty":
            page.locator("#job-cancel").click()
            page.locator("#jobs").get_by_text("cancelled", exact=True).first.wait_for()
            continue
        expect(row).to_contain_text("40shown" if name == "second" else "40")
    expect(page.locator("#runs tr", has_text="empty")).not_to_contain_text("shown")
    expect(page.locator("#runs tr", has_text="third")).not_to_contain_text("shown")
    page.locator("#show-drafts").click()
    expect(page.locator("#runs tr", has_text="third")).to_contain_text("shown")
    expect(page.locator("#show-drafts")).to_have_count(0)
    page.get_by_role("link", name="set it in the study design").click()
    expect(page.locator("#design-more.is-named button.label-wrap.open")).to_be_in_viewport()
    blind = page.locator("#design-blind input[type=number]")
    blind.fill("25")
    blind.press("Tab")
    page.get_by_role("button", name="Save design").click()
    page.locator("#design-state").get_by_text("by Owner").wait_for()
    expect(blind).to_have_value("25")


def test_a_run_says_how_its_scores_were_obtained(
    page: Any, server: Running, context: Context, stub: Stub
) -> None:
    hostile = "<img src=x onerror=alert(1)> It is good. I would give it a 3."

    def reply(body: dict[str, Any]) -> str:
        if "answer 1 of a" in str(body):
            return '{"score": 3}' if "response_format" in body else hostile
        return "No idea." if "answer 1 of b" in str(body) else "Analysis: good.\nRating: 4"

    stub.reply = reply
    slug = add_study(context, 2, drafted=True)
    settings = RunSettings(label="mixed", protocol="analyze-rate")
    with ThreadPoolExecutor() as pool:  # this thread has the loop of the browser
        pool.submit(lambda: asyncio.run(run_drafting(context, OPERATOR, slug, settings))).result()
    open_prefill(page, server, slug)
    page.get_by_role("button", name="How scores were obtained").click()
    run, forms = page.locator("#rungs-run"), page.locator("#rungs-forms")
    # the run with unscored drafts comes first
    expect(run.locator("input")).to_have_value("mixed")
    expect(forms).to_contain_text("50% in no form; 25% after asking again; answers by schema: off.")
    run.locator("input").click()
    page.get_by_role("option", name="first").click()
    expect(forms).not_to_contain_text("in no form")
    # the data browser names the rung beside the score of the run that annotators see
    show_run(context, OPERATOR, slug, "mixed")
    page.goto(f"{server.url}/admin/?task={slug}&tab=data")
    page.locator("#data-instance input").click()
    page.get_by_role("option", name="1a").click()
    data = page.locator("#data-view")
    expect(data).to_contain_text("obtained by: asked again")
    data.get_by_text("the model's answer").first.click()
    expect(data.locator("pre", has_text=hostile).first).to_be_visible()
    expect(data.locator("img")).to_have_count(0)


def test_an_owner_drafts_the_line_on_screen_and_no_other(
    page: Any, server: Running, context: Context, stub: Stub
) -> None:
    """What is typed before the draft is there stays to be compared; an annotator is not offered what costs money."""
    slug, paid = add_study(context, 2), stub.paid
    for name, offered in (("Ann", 0), ("Owner", 1)):
        enter(page, server.url, name)
        page.goto(f"{server.url}/?task={slug}&tab=scrutiny")
        page.locator(".wb-arm[data-kind=none]").wait_for()
        expect(page.get_by_role("button", name="Draft it now")).to_have_count(offered)
    page.get_by_role("button", name="Draft it now").click()
    page.get_by_text("The draft says").first.wait_for()
    expect(page.get_by_role("button", name="Draft it now")).to_have_count(0)
    assert stub.paid == paid + 1
    page.keyboard.press("]")
    page.get_by_role("button", name="Draft it now").wait_for()
