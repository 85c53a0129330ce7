"""The Spans tab in Chromium: by keyboard and mouse, on a phone, from right to left, and when requests fail."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from coeval.extensions.spans import queries
from coeval.extensions.spans.queries import SpanSubmission
from coeval.extensions.spans.typology import Side, Span, load_typology
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.sessions import sign_in
from coeval.usecases.study_import import import_study
from tests.conftest import make_study
from tests.spans.bench import OUTPUT, SOURCE, add_annotator, find, make_span_study
from tests.support.screens.axe import faults
from tests.support.screens.ui_steps import enter, press, wait_a_while
from tests.support.serving.server import Running, new_context

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

RIGHT_TO_LEFT = "البيت الأحمر يقع على التل 🙂 ويضيء في الليل"


@dataclass
class Desk:
    """A study on the server of these tests; ``open`` shows its tab to an annotator."""

    context: Context
    url: str
    slug: str

    def open(self, page: Page, name: str = "Ana") -> None:
        enter(page, self.url, name)
        page.goto(f"{self.url}/?task={self.slug}&tab=spans")
        page.locator(".sp[data-state=work]").wait_for()

    def saves(self) -> list[SpanSubmission]:
        sql = (
            "SELECT s.uid FROM spans_submission s JOIN instance i ON i.id = s.instance"
            " JOIN task t ON t.id = i.task WHERE t.slug = ? ORDER BY s.id"
        )
        with self.context.store.read() as db:
            rows = db.conn.execute(sql, [self.slug]).fetchall()
            return [one for (uid,) in rows if (one := queries.get_by_uid(db, uid))]


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Context, str]]:
    """A server with an owner and two annotators."""
    context = new_context(tmp_path_factory.mktemp("spans"))
    sign_in(context, "Olu")
    for name in ("Ana", "Ben"):
        add_annotator(context, name)
    with Running(context) as server:
        yield context, server.url


NUMBERS = itertools.count(1)


@pytest.fixture
def desk(live: tuple[Context, str], request: pytest.FixtureRequest) -> Desk:
    desk = Desk(*live, f"mt{next(NUMBERS)}")
    make_span_study(desk.context, slug=desk.slug, **getattr(request, "param", {}))
    return desk


def to_draft(page: Page) -> None:
    """Go to the instance that has drafted spans: the order is drawn."""
    if page.locator(".sp-line[data-action]").count() == 0:
        page.keyboard.press("PageDown")
    page.locator(".sp-line[data-action]").first.wait_for()


def words(page: Page) -> list[str]:
    # the text, whether or not the browser has drawn the line yet (content-visibility)
    return page.locator(".sp-line q").all_text_contents()


def actions(page: Page) -> list[str]:
    return page.locator(".sp-line").evaluate_all("lines => lines.map((line) => line.dataset.action)")


def wait_saves(page: Page, desk: Desk, count: int) -> list[SpanSubmission]:
    for _ in wait_a_while(page):
        if len(desk.saves()) >= count:
            return desk.saves()
    raise AssertionError(f"{len(desk.saves())} of {count} saves came")


def text_of(span: Span, output: str = OUTPUT) -> str:
    return output[slice(*span.edges)]


FIND = """([words, from, to]) => {
    const text = document.querySelector('.sp-text[data-side=output]');
    const walker = document.createTreeWalker(text, NodeFilter.SHOW_TEXT);
    const range = document.createRange();
    while (walker.nextNode()) {
      const at = walker.currentNode.data.indexOf(words);
      if (at < 0) continue;
      range.setStart(walker.currentNode, at + from); range.setEnd(walker.currentNode, at + to);
    }"""
PLACE_OF = FIND + " return range.getBoundingClientRect().toJSON(); }"
SELECT = FIND + " getSelection().removeAllRanges(); getSelection().addRange(range); }"


def test_every_action_by_keyboard(page: Page, desk: Desk) -> None:
    desk.open(page)
    to_draft(page)
    assert words(page) == ["rote Haus", "Berg", "leuchtet"] and actions(page) == ["none"] * 3
    press(page, "a")  # approved, and on to the next
    press(page, "2", "]", "]")  # "Berg": neutral, minor, major are 1, 2, 3; its end one unit on, twice
    press(page, "c")
    page.keyboard.press("Home")
    page.keyboard.press("Enter")
    press(page, "ArrowDown", "d")
    press(page, "ArrowRight", "ArrowRight", "ArrowRight", "Shift+ArrowRight", "n")  # "steht auf"
    press(page, "x", "ArrowRight", "n", "m")
    assert actions(page).count("add") == 3
    press(page, "z")
    assert actions(page).count("add") == 2
    page.keyboard.press("Control+Enter")
    (saved,) = wait_saves(page, desk, 1)
    assert saved.opened_at and saved.active_ms is not None
    by_words = {text_of(row.span): row for row in saved.rows if row.span.side is Side.OUTPUT}
    assert by_words["rote Haus"].action == "approve" and by_words["leuchtet"].action == "delete"
    berg = by_words["Berg 🙂 und"]
    assert (berg.action, berg.span.severity, berg.span.category) == ("revise", "minor", "Accuracy/Addition")
    assert by_words["steht auf"].action == "add"
    (omission,) = [row.span for row in saved.rows if row.span.side is Side.INPUT]
    assert (omission.category, omission.edges) == ("Accuracy/Omission", (4, 7))
    assert saved.active_ms is not None and not saved.bulk
    page.locator(".sp-where", has_text="1 done").wait_for()


def test_overlapping_spans_are_seen_and_picked_one_by_one(page: Page, desk: Desk) -> None:
    desk.open(page)
    to_draft(page)
    press(page, "ArrowRight", "ArrowRight", "Shift+ArrowRight", "n")  # "Haus steht" over "rote Haus"
    several = page.locator(".sp-piece.is-several")
    assert several.all_inner_texts() == ["Haus"]
    picked = []
    for _ in range(2):
        several.first.click()
        picked.append(page.locator(".sp-line[aria-current] q").text_content())
    assert set(picked) == {"rote Haus", "Haus steht"}
    # the same span a second time is not added, but picked
    count = len(words(page))
    press(page, "n")
    assert len(words(page)) == count


@pytest.mark.parametrize(
    "desk",
    [{"texts": [("The red house.", RIGHT_TO_LEFT)], "drafts": [[find(RIGHT_TO_LEFT, "الأحمر")]]}],
    indirect=True,
)
def test_a_text_from_right_to_left(page: Page, desk: Desk) -> None:
    desk.open(page)
    text = page.locator(".sp-text[data-side=output]")
    assert text.evaluate("node => getComputedStyle(node).direction") == "rtl"
    press(page, "a", "ArrowLeft", "ArrowLeft")  # on in the text is to the left
    assert page.locator(".is-selected").all_inner_texts() == ["يقع"]
    press(page, "Shift+ArrowLeft", "n", "Control+Enter")
    (saved,) = wait_saves(page, desk, 1)
    assert [text_of(span, RIGHT_TO_LEFT) for span in saved.spans] == ["الأحمر", "يقع على"]


@pytest.mark.parametrize("desk", [{"typology": load_typology("esa"), "drafts": [[], []]}], indirect=True)
def test_esa_asks_for_the_score_after_the_spans(page: Page, desk: Desk) -> None:
    desk.open(page)
    page.keyboard.press("Control+Enter")
    page.get_by_text("Give a score").first.wait_for()
    page.keyboard.type("87")
    page.keyboard.press("Control+Enter")
    assert wait_saves(page, desk, 1)[0].score == 87.0


def test_a_stale_page_is_told_and_either_version_can_be_kept(page: Page, desk: Desk) -> None:
    desk.open(page)
    to_draft(page)
    other = page.context.new_page()
    other.goto(f"{desk.url}/?task={desk.slug}&tab=spans")
    other.locator(".sp[data-state=work]").wait_for()
    to_draft(other)
    press(page, "Shift+A", "Control+Enter")
    wait_saves(page, desk, 1)
    other.bring_to_front()
    press(other, "d", "d", "d", "Control+Enter")
    other.get_by_text("Another tab has saved these spans").wait_for()
    assert actions(other) == ["approve"] * 3 and len(desk.saves()) == 1
    other.get_by_role("button", name="Keep my version").click()
    assert actions(other) == ["delete"] * 3
    other.keyboard.press("Control+Enter")
    saves = wait_saves(other, desk, 2)
    assert [one.revision for one in saves] == [1, 2] and saves[1].spans == ()
    assert saves[0].bulk and not saves[1].bulk


def test_on_a_phone_words_are_tapped_or_selected_with_a_finger(desk: Desk, browser: Browser) -> None:
    phone = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page = phone.new_page()
    desk.open(page)
    to_draft(page)
    box = page.evaluate(PLACE_OF, ["auf", 0, 3])
    page.touchscreen.tap(
        box["x"] + box["width"] - 1, box["y"] + box["height"] / 2
    )  # behind its last character
    assert page.locator(".is-selected").all_inner_texts() == ["auf"]
    page.get_by_role("button", name="Add a span").tap()
    assert "auf" in words(page)
    # a long press selects without an event of the mouse, from within a word on
    page.evaluate(SELECT, ["steht", 2, 5])
    page.get_by_role("button", name="Add a span").tap()
    assert "steht" in words(page) and page.evaluate("document.documentElement.scrollWidth") <= 390
    assert not faults(page, ".sp")
    phone.close()


def test_an_owner_chooses_the_typology_on_the_tab(page: Page, live: tuple[Context, str]) -> None:
    context, url = live
    import_study(context, OPERATOR, make_study())
    enter(page, url, "Ana")
    page.goto(f"{url}/?task=demo&tab=spans")
    page.locator(".wb[data-state=step]").wait_for()
    page.wait_for_url("**tab=scrutiny")  # the tab opens for annotators once there is a typology
    enter(page, url, "Olu")
    page.goto(f"{url}/?task=demo&tab=spans")
    page.locator("#spans-choose").click()
    page.locator(".sp[data-state=work]").wait_for()


EVIL = "<img src=x onerror=window.hit=1> ${window.hit=1} <script>window.hit=1</script>"


@pytest.mark.parametrize(
    "desk", [{"texts": [(EVIL, EVIL)], "drafts": [[find(EVIL, "onerror")]]}], indirect=True
)
def test_a_hostile_text_is_only_text(page: Page, desk: Desk) -> None:
    desk.open(page)
    assert page.locator(".sp-text[data-side=output]").inner_text() == EVIL
    assert page.evaluate("window.hit") is None


LONG = f"{SOURCE} " + "More of the article follows here. " * 150


@pytest.mark.parametrize("desk", [{"texts": ((LONG, OUTPUT), ("Two.", "Zwei Dinge."))}], indirect=True)
def test_the_output_is_in_view_where_the_input_is_long(page: Page, desk: Desk) -> None:
    page.set_viewport_size({"width": 1280, "height": 720})
    desk.open(page)
    to_draft(page)
    order = "nodes => nodes.map((node) => node.dataset.side)"
    assert page.locator(".sp-text").evaluate_all(order) == ["output", "input"]
    boxes = [
        page.locator(part).bounding_box() for part in (".sp-text[data-side=output]", ".sp-texts", ".sp-foot")
    ]
    assert all(box and box["y"] >= 0 for box in boxes)
    assert all(box and box["y"] + box["height"] <= 720 for box in boxes), "the output, its area, and the form"
    inner = """() => [...document.querySelectorAll('.sp-texts *')].filter((node) =>
        node.scrollHeight > node.clientHeight + 1 && /auto|scroll/.test(getComputedStyle(node).overflowY)).length"""
    assert page.evaluate(inner) == 0, "one area scrolls, and no box is in a box"
    page.keyboard.press("PageDown")
    page.locator(".sp-text", has_text="Two.").wait_for()
    assert page.locator(".sp-text").evaluate_all(order) == ["input", "output"], "both texts fit"
