"""The output is what is judged: it is in view beside the form, on every item and on every screen, without a click."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from coeval.domain import EvaluationRow, Instance, Quote, QuotePlace, RowKind
from coeval.rules.arms import Design
from tests.support.screens.bench import CRITERIA, Bench, evidence
from tests.support.screens.ui_steps import at_step, press, settle

if TYPE_CHECKING:
    from playwright.sync_api import Page


SCREENS = [(1440, 900), (1280, 720), (390, 844)]
SENTENCE = "The council met on Tuesday to discuss the new bridge over the river and its price."
ARTICLE = "\n\n".join(f"Paragraph {n}. " + " ".join([SENTENCE] * 5) for n in range(1, 9))
"""More than 600 words."""
SUMMARY = "The council spoke about a bridge over the river, about its price, and about a vote in spring."
INSIDE = """([inner, outer]) => {
    const [a, b] = [inner, outer].map((name) => document.querySelector(name).getBoundingClientRect());
    return a.top >= b.top - 1 && a.bottom <= b.bottom + 1; }"""
SHOWN = """(name) => {
    const box = document.querySelector(name).getBoundingClientRect();
    const column = document.querySelector('.wb-read').getBoundingClientRect();
    const foot = document.querySelector('.wb-foot').getBoundingClientRect();
    return Math.min(box.bottom, foot.top, innerHeight, column.bottom) - Math.max(box.top, column.top, 0); }"""
"""How many pixels of a text can be seen."""


def rows(instance: Instance) -> tuple[EvaluationRow, ...]:
    at = instance.input.index("Paragraph 7")
    return (
        EvaluationRow(RowKind.CONCLUSION, "It is faithful."),
        EvaluationRow(RowKind.SCORE, "4"),
        evidence("“its price” is covered.", "its price", instance.output),
        EvaluationRow(
            RowKind.EVIDENCE,
            "“Paragraph 7” is left out.",
            (Quote("Paragraph 7", at, at + 11, QuotePlace.INPUT),),
        ),
    )


@pytest.fixture
def article(bench: Bench) -> Bench:
    """Two outputs of one article, and one of another."""
    bench.criteria, bench.rows = CRITERIA[:2], rows
    texts = [
        (ARTICLE, SUMMARY, "d1"),
        (ARTICLE, f"{SUMMARY} And more.", "d1"),
        (f"New. {ARTICLE}", SUMMARY, "d2"),
    ]
    bench.instances = [Instance(f"x{n}", *text) for n, text in enumerate(texts, 1)]
    return bench


def scroll(page: Page, to: int | None = None) -> Any:
    script = """(to) => {
        const column = document.querySelector('.wb-read');
        if (to !== null) column.scrollTop = to;
        return column.scrollTop; }"""
    found = page.evaluate(script, to)
    page.wait_for_timeout(60)
    return found


def check_both_in_view(page: Page) -> None:
    assert page.evaluate(SHOWN, ".wb-pane-output") > 90, "the output"
    row, foot = page.locator(".rt-row.is-current").bounding_box(), page.locator(".wb-foot").bounding_box()
    texts = page.locator(".wb-read").bounding_box()
    assert row and foot and texts and row["y"] >= 0 and row["y"] + min(row["height"], 60) <= foot["y"]
    beside = row["x"] >= texts["x"] + texts["width"]
    assert beside or row["y"] >= texts["y"] + texts["height"], "the line in use"
    inner = """() => [...document.querySelectorAll('.wb-texts *')].filter((node) =>
        node.scrollHeight > node.clientHeight + 1 && /auto|scroll/.test(getComputedStyle(node).overflowY)).length"""
    assert page.evaluate(inner) <= 1, "one area scrolls, and no box is in a box"


def resize(page: Page, width: int, height: int) -> None:
    page.set_viewport_size({"width": width, "height": height})
    page.wait_for_timeout(60)


@pytest.mark.parametrize("long", [False, True])
def test_output_and_form_are_in_view_on_every_item_and_screen(page: Page, article: Bench, long: bool) -> None:
    if long:
        for n, one in enumerate(article.instances):
            article.instances[n] = Instance(
                one.external_id, one.input, " ".join([one.output] * 20), one.document
            )
    article.open_bench(page)
    for position in ("1", "2", "3"):
        for criterion in ("1", "2"):
            at_step(page, position, criterion)
            page.locator(".wb[aria-busy=false]").wait_for()
            for screen in SCREENS:
                resize(page, *screen)
                scroll(page, 0)
                check_both_in_view(page)
                check_passage(page)
            press(page, "]")
        press(page, "j")
    assert page.locator(".wb-pane-output").evaluate(
        "(one) => one.compareDocumentPosition(document.querySelector('.wb-pane-input')) & 4"
    )
    press(page, "l")  # the texts side by side
    for screen in SCREENS:
        resize(page, *screen)
        scroll(page, 0)
        check_both_in_view(page)
        check_passage(page)


def check_passage(page: Page) -> None:
    """Where the output is out of view after scrolling, a bar shows the passage in question."""
    scroll(page, 900)
    if page.evaluate(SHOWN, ".wb-pane-output") <= 90:
        page.locator(".wb-passage").wait_for()


def test_the_next_output_of_an_article_keeps_its_place(page: Page, article: Bench) -> None:
    resize(page, 1280, 720)
    article.open_bench(page)
    order = [article.step(n).instance for n in (1, 2, 3)]
    documents = [instance.document for instance in order if instance]
    for n, (before, after) in enumerate(zip(documents, documents[1:], strict=False), 2):
        assert scroll(page, 500) == 500
        press(page, "j")
        at_step(page, str(n), "1")
        page.wait_for_timeout(100)
        assert (scroll(page) > 400) == (after == before), f"{before}, then {after}"
        check_both_in_view(page)


def test_nothing_covers_short_texts(page: Page, bench: Bench) -> None:
    """The bar for an output out of view lay over the question of every short answer."""
    bench.instances = [Instance("x1", "Why did it shrink?", "Wash it again.", "d1")]
    bench.open_bench(page)
    for screen in SCREENS:
        resize(page, *screen)
        page.wait_for_timeout(250)
        expect(page.locator(".wb-passage")).to_be_hidden()


def test_the_evidence_line_brings_passages_of_both_texts_into_view(page: Page, article: Bench) -> None:
    article.open_bench(page)
    for screen in SCREENS:
        resize(page, *screen)
        page.locator(".rt-row").nth(3).focus()
        lit = page.locator(".wb-pane-input mark.is-on")
        expect(lit).to_have_text("Paragraph 7")
        assert page.evaluate(INSIDE, [".wb-pane-input mark.is-on", ".wb-read"])
        cover = page.locator(".is-pinned, .wb-passage:not([hidden])").bounding_box()
        at = lit.bounding_box()
        assert cover and at and at["y"] >= cover["y"] + cover["height"], "nothing covers it"
        page.locator(".rt-row").nth(2).focus()
        assert page.evaluate(INSIDE, [".wb-pane-output mark.is-on", ".wb-read"])


def test_an_owner_may_put_the_input_first(page: Page, article: Bench) -> None:
    article.design = Design(input_first=True)
    page.set_viewport_size({"width": 1280, "height": 720})
    article.open_bench(page)
    assert page.locator(".wb-read .wb-h").all_inner_texts() == ["Question", "Answer"]
    expect(page.locator(".wb-passage")).to_contain_text("The council spoke")
    page.locator(".wb-passage").click()
    assert page.evaluate(SHOWN, ".wb-pane-output") > 90


def test_so_it_is_in_the_whole_app(page: Page, article: Bench) -> None:
    """The head of the app takes room from a small screen."""
    article.ensure_study()
    article.sign_in(page)
    for width, height in SCREENS:
        page.set_viewport_size({"width": width, "height": height})
        page.goto(f"{article.root}/?task={article.slug}&tab=scrutiny")
        page.locator(".wb[data-state=step][aria-busy=false] .rt-row").first.wait_for()
        settle(page)
        check_both_in_view(page)
        for key in ("]", "j"):
            press(page, key)
            settle(page)
            check_both_in_view(page)
