"""A study in Arabic, walked in Chromium: its annotators read Arabic from right to left, its owner reads English."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from coeval.domain import (
    Criterion,
    EvaluationRow,
    ImportedDraft,
    ImportedRun,
    Instance,
    Origin,
    Plan,
    Proposal,
    Quote,
    RowKind,
    Run,
    Study,
    Task,
)
from coeval.language import speaking, tr, trn
from coeval.usecases import criteria_rounds
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.crowd import plans
from coeval.usecases.sessions import sign_in
from coeval.usecases.study_import import import_study
from tests.support.screens.axe import faults
from tests.support.screens.ui_steps import current, enter, settle
from tests.support.serving.server import Running, new_context
from tests.support.studies.crowd_links import ARABIC_TERMS, query

if TYPE_CHECKING:
    from playwright.sync_api import Page


STUDY = "sharh"
VOTE = "tasweet"
CROWD = "jumhur"
QUESTION = "لماذا السماء زرقاء؟"
ANSWER = "يتشتت الضوء الأزرق في الهواء أكثر من غيره، فتبدو السماء زرقاء في النهار."
CRITERIA = ("أن تكون اللغة بسيطة.", "أن يكون الجواب صحيحًا.")
TASK = Task(
    STUDY,
    "شرح للأطفال",
    description="يشرح الجواب السؤال لطفل في الخامسة.",
    input_field="السؤال",
    output_field="الجواب",
    guidelines="# القواعد\n\nاقرأ كل نص قبل أن تقرر.",
    language="ar",
)
NAMES = {"CoEval", "Prolific", "Esc", "Ctrl", "Shift", "Enter", "Alt", "Set", "up", "DONE"}
"""Latin words that Arabic keeps: names, and what is printed on keys."""

NOTHING_UNDER_WAY = """() => ![...document.querySelectorAll('.sr-only[role=status]')].some(
    (node) => node.textContent.trim() === 'Loading')"""
"""Gradio tells screen readers that an event is under way, in the browser's language."""

ENGLISH_WORDS = """() => {
    const shown = (node) => node.checkVisibility({ visibilityProperty: true }) && node.closest('[lang]').lang === 'ar';
    const said = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const { parentElement: at, data } = walker.currentNode;
        if (!at.closest('script, style, kbd') && shown(at)) said.push(data);
    }
    for (const name of ['aria-label', 'title', 'placeholder'])
        for (const node of document.querySelectorAll(`[${name}]`))
            if (shown(node)) said.push(node.getAttribute(name));
    return said.filter((text) => /[A-Za-z]{2,}/.test(text)).map((text) => text.trim());
}"""


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Context:
    """Three studies: one to scrutinise, one to vote in, one of a crowd."""
    context = new_context(tmp_path_factory.mktemp("arabic"))
    sign_in(context, "علا")
    import_study(context, OPERATOR, make_arabic(STUDY))
    vote = replace(make_arabic(VOTE), criteria=(), runs=())
    import_study(context, OPERATOR, vote)
    criteria_rounds.open_round(context, OPERATOR, VOTE, [Proposal(text, Origin.HUMAN) for text in CRITERIA])
    import_study(context, OPERATOR, make_arabic(CROWD))
    plans.set_plan(context, OPERATOR, CROWD, Plan(per_instance=1, batch=2, quota=2, terms=ARABIC_TERMS))
    return context


def make_arabic(slug: str) -> Study:
    instances = (Instance("س1", QUESTION, ANSWER), Instance("س2", QUESTION, ANSWER))
    drafts = tuple(
        ImportedDraft(
            instance.external_id,
            text,
            4.0,
            (
                EvaluationRow(RowKind.CONCLUSION, "نعم، في معظمه."),
                EvaluationRow(RowKind.SCORE, "4"),
                EvaluationRow(RowKind.EVIDENCE, "«الضوء الأزرق» واضح.", (Quote("الضوء الأزرق", 6, 18),)),
            ),
        )
        for instance in instances
        for text in CRITERIA
    )
    run = ImportedRun(Run("imported", "نموذج", "الأول", shown=True), drafts)
    criteria = tuple(Criterion(text) for text in CRITERIA)
    return Study(replace(TASK, slug=slug), instances, criteria, (run,))


@pytest.fixture(scope="module")
def url(context: Context) -> Iterator[str]:
    with Running(context) as server:
        yield server.url


@pytest.fixture
def arabic() -> Iterator[None]:
    """What the test itself expects is said in Arabic."""
    with speaking("ar"):
        yield


def assert_arabic(page: Page) -> None:
    """The page is marked as Arabic and runs from the right, says no English, and has no fault that axe finds."""
    page.wait_for_function("document.documentElement.lang === 'ar'")
    settle(page)
    page.wait_for_function(NOTHING_UNDER_WAY)
    settle(page)
    root = page.locator("html")
    assert (root.get_attribute("lang"), root.get_attribute("dir")) == ("ar", "rtl")
    said = [text for text in page.evaluate(ENGLISH_WORDS) if set(re.findall("[A-Za-z]{2,}", text)) - NAMES]
    assert not said, f"not in Arabic: {said}"
    assert faults(page) == [], "its colours are those of English pages, which are looked at in the dark too"


def ready(page: Page) -> None:
    page.locator(".wb[data-state=step][aria-busy=false]").wait_for()


def confirm(page: Page, *, is_last: bool) -> None:
    """Approve every line on the screen, confirm, and wait for the next; the keys keep their Latin letters."""
    ready(page)
    before = current(page)
    for _ in range(page.locator(".rt-row").count()):
        page.keyboard.press("a")
    page.keyboard.press("Control+Enter")
    for _ in range(0 if is_last else 1000):
        if current(page) != before:
            return
        page.wait_for_timeout(20)
    assert is_last, f"{before} is still on the screen"


def test_an_annotator_signs_in_votes_and_scrutinises_to_the_end(
    page: Any, url: str, context: Context, arabic: None
) -> None:
    page.goto(f"{url}/signin")
    assert_arabic(page)
    page.get_by_label(tr("Your name")).fill("آنا")
    page.get_by_role("button", name=tr("Sign in")).click()
    page.locator("#workbench, #task-card").first.wait_for()

    page.goto(f"{url}/?task={VOTE}")
    page.locator("#ballot .rt-row").nth(1).wait_for()
    assert page.get_by_role("tab", name=tr("Criteria")).count() == 1
    assert_arabic(page)
    approve = page.locator("#ballot").get_by_role("radio", name=tr("Approve"))
    approve.first.click()
    page.get_by_text(trn("{n} criterion still needs a decision", "", 1)).first.wait_for()
    approve.nth(1).click()
    page.keyboard.press("Control+Enter")
    page.locator(".wb-status").get_by_text(re.compile(tr("Saved {time}", time=r"\d\d:\d\d"))).wait_for()

    page.goto(f"{url}/?task={STUDY}&tab=scrutiny")
    ready(page)
    assert_arabic(page)
    assert page.locator(".rt-head span").all_inner_texts()[0] == tr("Line")
    assert page.locator(".wb-text").first.get_attribute("dir") == "auto"
    bars = [page.locator(part).bounding_box() for part in (".wb-read", ".wb-work")]
    assert bars[0]["x"] > bars[1]["x"], "the texts stand at the right, where reading begins"
    arrow, text = (
        page.locator(f"#task-picker {part}").bounding_box() for part in (".dropdown-arrow", "input")
    )
    assert arrow["x"] < text["x"] + text["width"] / 2, "the picker's arrow stands at the end, not on the name"
    first = page.get_by_role("tab", name=tr("Scrutiny")).bounding_box()
    picker = page.locator("#task-picker").bounding_box()
    assert first["x"] + first["width"] <= picker["x"] < page.locator("#brand").bounding_box()["x"]
    page.locator(".rt-step").nth(2).focus()
    page.keyboard.press("ArrowLeft")
    assert page.locator(":focus").inner_text() == "4", "left is on, where numbers run to the left"
    page.keyboard.press("?")
    page.get_by_role("dialog", name=tr("Keys")).wait_for()
    assert_arabic(page)
    page.keyboard.press("Escape")
    page.keyboard.press("Control+Enter")
    page.get_by_text(tr("approve, revise or delete it")).first.wait_for()
    for done in range(4):
        confirm(page, is_last=done == 3)
    page.get_by_role("heading", name=tr("That was the last one. Thank you.")).wait_for()
    assert_arabic(page)


def test_a_worker_goes_from_consent_to_the_code(page: Any, url: str, context: Context, arabic: None) -> None:
    key = plans.get_link(context, OPERATOR, CROWD)
    sent = "&".join(f"{name}={value}" for name, value in query(1).items())
    page.goto(f"{url}/s/{CROWD}?{sent}&key={key}")
    assert_arabic(page)
    page.get_by_role("button", name=tr("I agree to take part")).click()
    page.get_by_text(tr("Your return code:")).wait_for()
    page.locator(".code").evaluate(
        "node => { node.textContent = '2345' }"
    )  # its letters are Latin everywhere
    assert_arabic(page)
    page.get_by_role("link", name=tr("Continue")).click()
    page.get_by_role("button", name=tr("Begin")).click()
    page.get_by_role("link", name=tr("Go to work")).wait_for()
    assert_arabic(page)
    page.get_by_role("link", name=tr("Go to work")).click()
    ready(page)
    assert_arabic(page)
    page.keyboard.press("Control+Enter")
    page.locator(".ce-toast").get_by_text(tr("approve, revise or delete it")).wait_for()
    for done in range(4):
        confirm(page, is_last=done == 3)
    page.locator(".code").wait_for()
    page.get_by_text(trn("Thank you: you finished {n} instance, and everything is saved.", "", 2)).wait_for()
    assert page.locator(".code").inner_text() == "DONE1"
    assert_arabic(page)


def test_the_owner_reads_english_and_refusals_follow_the_page(page: Any, url: str, context: Context) -> None:
    enter(page, url, "علا")
    page.goto(f"{url}/?task={STUDY}&tab=scrutiny")
    ready(page)
    page.locator("html[dir=ltr]").wait_for()
    assert page.locator(".rt-head span").first.inner_text() == "Line"
    refused = {}
    for code in ("en", "ar"):
        answer = page.request.post(
            f"{url}/api/scrutiny/{STUDY}/step?at=99", headers={"coeval-language": code}
        )
        refused[code] = answer.json()["message"]
    assert refused["en"].startswith("There is no number 99")
    with speaking("ar"):
        assert refused["ar"] == tr(
            "There is no number {position} in your queue: type 1 to {total}.", position=99, total=2
        )
