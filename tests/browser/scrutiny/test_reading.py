"""The texts to judge: marks at the right letters, links both ways, selection as evidence, hostile contents."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from coeval.domain import ColumnRole, EvaluationRow, Quote, QuotePlace, RowKind, Task
from coeval.domain.tasks import Turn, parse_messages, render_chat
from coeval.rules.arms import Design, Display
from tests.support.screens.bench import OUTPUT, evidence, make_instances, make_rows, quote_in
from tests.support.screens.ui_steps import at_step, press

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.support.screens.bench import Bench


PANE = ".wb-pane-output .wb-text"
INPUT_PANE = ".wb-pane-input .wb-text"


def show(
    page: Page, bench: Bench, output: str, quotes: list[str], display: str = "plain", question: str = ""
) -> None:
    """One instance with a line of evidence for every quote."""
    lines = tuple(evidence(f"Line {n}.", quote, output) for n, quote in enumerate(quotes))
    bench.instances = [replace(one, input=question or one.input) for one in make_instances(1, output)]
    bench.rows = lambda instance: (*make_rows(output)[:2], *lines)
    bench.design = Design(display=Display(display))
    bench.open_bench(page)


def marks(page: Page, pane: str = PANE) -> list[tuple[str, str]]:
    """Text and label of each mark."""
    script = "marks => marks.map((mark) => [mark.textContent, mark.dataset.label ?? ''])"
    return [tuple(one) for one in page.locator(f"{pane} mark").evaluate_all(script)]


def select(page: Page, words: str) -> None:
    """Selects words of the output as a mouse would, wherever they stand in the tree."""
    script = """([pane, words]) => {
        const walker = document.createTreeWalker(document.querySelector(pane), NodeFilter.SHOW_TEXT);
        const nodes = [];
        while (walker.nextNode()) nodes.push(walker.currentNode);
        const all = nodes.map((node) => node.data).join('');
        const place = (offset) => {
            for (const node of nodes) {
                if (offset <= node.data.length) return [node, offset];
                offset -= node.data.length;
            }
        };
        const start = all.indexOf(words);
        getSelection().setBaseAndExtent(...place(start), ...place(start + words.length));
    }"""
    page.evaluate(script, [PANE, words])


def test_marks_stand_at_code_points_not_utf16_units(page: Page, bench: Bench) -> None:
    # Each fox is one code point and two UTF-16 units; the flag is two code points, four units.
    output = "🦊🦊 a 🇫🇮 fox 香水 said 𝔥𝔦 to é (e + acute) and left."
    show(page, bench, output, ["fox 香水", "𝔥𝔦", "é (e", "left."])
    assert marks(page) == [("fox 香水", "1"), ("𝔥𝔦", "2"), ("é (e", "3"), ("left.", "4")]
    assert page.locator(PANE).evaluate("node => node.textContent") == output


def test_marks_and_rows_lead_to_each_other(page: Page, bench: Bench) -> None:
    show(page, bench, OUTPUT, ["condensed", "sprayed"])
    page.get_by_text("sprayed").click()
    row = page.locator(".rt-row.is-current")
    assert "Evidence 2" in row.inner_text()
    assert page.locator("mark.is-on").inner_text() == "sprayed"
    press(page, "ArrowUp")
    assert page.locator("mark.is-on").inner_text() == "condensed"
    page.get_by_text("sprayed").hover()
    assert "Evidence 2" in page.locator(".rt-row.is-linked").inner_text()


def test_a_long_article_and_what_is_shown_with_it_are_whole_and_open(page: Page, bench: Bench) -> None:
    article = "The article says this. " * 400
    bench.task = Task("", "Read", columns={"article": ColumnRole.SHOWN, "year": ColumnRole.SHOWN})
    context = {"article": article, "year": "1999"}
    bench.instances = [replace(one, input=article) for one in make_instances(1, context=context)]
    bench.open_bench(page)
    assert page.get_by_role("region", name="article").inner_text().strip() == article.strip()
    assert page.get_by_text("1999").is_visible()
    # the column of texts scrolls, and nothing inside it does
    inner = """() => [...document.querySelectorAll('.wb-read *')].filter((node) =>
        node.scrollHeight > node.clientHeight + 1 && /auto|scroll/.test(getComputedStyle(node).overflowY)).length"""
    assert page.evaluate(inner) == 0
    column = page.locator(".wb-read").bounding_box()
    assert column and column["y"] + column["height"] <= 900


def test_e_adds_the_selected_words(page: Page, bench: Bench) -> None:
    show(page, bench, OUTPUT, ["condensed"])
    select(page, "an be condensed, then pu")  # half words are made whole
    press(page, "e")
    box = page.locator("[data-action=add] textarea").first
    assert box.input_value() == "“can be condensed, then put” "
    assert page.evaluate("document.activeElement.ariaLabel") == "Added evidence"
    page.wait_for_timeout(300)
    assert marks(page) == [("can be ", ""), ("condensed", "1"), (", then put", "2")]


def test_quotes_that_are_not_there_are_said_so(page: Page, bench: Bench) -> None:
    bench.open_bench(page)
    flags = page.locator(".ce-flag")
    assert flags.all_inner_texts() == ["not in the answer"]
    assert flags.first.get_attribute("title") == "smelly thinks in flowers"


def test_a_quote_of_the_input_is_named_and_marked_there(page: Page, bench: Bench) -> None:
    quotes = (quote_in("condensed", OUTPUT), Quote("perfume", 7, 14, QuotePlace.INPUT))
    line = EvaluationRow(RowKind.EVIDENCE, "It was asked about “perfume”, and is “condensed”.", quotes)
    bench.rows = lambda instance: (*make_rows(instance.output)[:2], line)
    bench.open_bench(page)
    assert page.locator(".ce-flag").all_inner_texts() == ["quotes the question"]
    assert marks(page) == [("condensed", "1")]
    assert marks(page, INPUT_PANE) == [("perfume", "1")]
    press(page, "ArrowDown", "ArrowDown")
    assert page.locator("mark.is-on").all_inner_texts() == ["perfume", "condensed"]
    press(page, "ArrowUp")
    page.locator(f"{INPUT_PANE} mark").click()
    assert page.locator(".rt-row.is-current").get_attribute("data-kind") == "evidence"
    press(page, "r", "Control+A")
    page.keyboard.type("“created” is the question's word, “alcohol” is not")
    page.wait_for_timeout(300)
    assert (marks(page, INPUT_PANE), marks(page)) == ([("created", "1")], [("alcohol", "1")])


def test_right_to_left_and_cjk(page: Page, bench: Bench) -> None:
    arabic = "العطر يصنع من الزهور والأعشاب."
    show(page, bench, f"{arabic}\nAn English line.", ["الزهور والأعشاب"])
    assert marks(page) == [("الزهور والأعشاب", "1")]
    assert page.locator(PANE).evaluate("node => getComputedStyle(node).direction") == "rtl"
    press(page, "o", "ArrowLeft", "ArrowLeft", "e")
    assert page.locator("[data-action=add] textarea").first.input_value() == "“يصنع” "
    bench.start_over()
    show(page, bench, "香水是从花和草药中提取的。", ["从花和草药中"])
    assert marks(page) == [("从花和草药中", "1")]


HOSTILE = (
    '<img src=x onerror="window.pwned=1"><script>window.pwned=1</script>'
    "[x](javascript:window.pwned=1) ![y](https://example.org/track.png) ${window.pwned=1} {{constructor}} "
    "<svg onload=window.pwned=1> \"><iframe srcdoc='<script>parent.pwned=1</script>'>"
)


@pytest.mark.parametrize("display", ["plain", "markdown"])
def test_no_text_becomes_markup(page: Page, bench: Bench, display: str) -> None:
    fields = {"reference": HOSTILE, "system": HOSTILE, "context": {HOSTILE: HOSTILE}}
    bench.instances = [replace(one, input=HOSTILE) for one in make_instances(2, HOSTILE, **fields)]
    bench.criteria = [HOSTILE, f"{HOSTILE} too"]
    bench.task = Task("", HOSTILE[:80], HOSTILE, guidelines=HOSTILE, columns={HOSTILE: ColumnRole.SHOWN})
    bench.design = Design(display=Display(display), hide_systems=False)
    bench.rows = lambda instance: tuple(
        EvaluationRow(kind, HOSTILE, (Quote(HOSTILE), Quote(HOSTILE, 0, len(HOSTILE))))
        for kind in (RowKind.CONCLUSION, RowKind.EVIDENCE)
    )
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    bench.open_bench(page)
    press(page, "g")
    press(page, "Escape", "c", "Escape", "j")
    at_step(page, "2", "1")
    press(page, "e")
    page.keyboard.type(HOSTILE)
    page.reload()
    at_step(page, "2", "1")
    bench.save_elsewhere(1, position=2)
    page.reload()
    page.get_by_role("heading", name="There are two versions").wait_for()
    assert page.evaluate("window.pwned") is None
    assert (
        page.locator("#place :is(img, script, iframe, object, form[action], svg:not(.ce-icon))").count() == 0
    )
    links = page.locator("#place a").evaluate_all("links => links.map((link) => link.protocol)")
    assert set(links) <= {"http:", "https:"}
    assert all(url.startswith(bench.root) for url in asked), "a text made the page fetch something"


def test_a_conversation_is_shown_as_turns_and_evidence_is_selected_inside_one(
    page: Page, bench: Bench
) -> None:
    output = render_chat([Turn("user", "🦊 Why is snow white?"), Turn("assistant", "It scatters all light.")])
    show(page, bench, output, ["scatters all"], question=render_chat([Turn("system", "Be kind.")]))
    turns = page.locator(f"{PANE} [role=group]")
    assert turns.evaluate_all("turns => turns.map((turn) => turn.ariaLabel)") == ["user", "assistant"]
    assert "──" not in page.locator(PANE).inner_text() + page.locator(INPUT_PANE).inner_text()
    assert marks(page) == [("scatters all", "1")] and turns.nth(1).locator("mark").count() == 1
    select(page, "Why is snow")
    press(page, "e")
    box = page.locator("[data-action=add] textarea").first
    assert box.input_value() == "“Why is snow” "


def test_steps_of_an_agent_are_folded_and_evidence_opens_its_step(page: Page, bench: Bench) -> None:
    result = "A table of months. " * 200 + "Beans: May."
    turns = parse_messages([
        {"role": "assistant", "content": "I look.", "tool_calls": [
            {"id": "c", "function": {"name": "find", "arguments": '{"of": "beans"}'}}]},
        {"role": "tool", "tool_call_id": "c", "content": result},
        {"role": "assistant", "content": "In May."},
    ])  # fmt: skip
    show(page, bench, render_chat(turns), ["Beans: May"])
    steps = page.locator(f"{PANE} details.is-step")
    assert [line.split("\n")[0] for line in steps.locator("> summary").all_inner_texts()] == [
        "2. tool call: find",
        "3. tool result: find",
    ]
    assert steps.evaluate_all("all => all.map((one) => one.open)") == [False, False], (
        "what nobody asks for is folded"
    )
    assert not page.locator(f"{PANE} mark").is_visible()
    steps.nth(0).locator("> summary").click()
    assert page.locator(PANE).get_by_text('{"of": "beans"}').last.is_visible()
    page.locator(".rt-row", has_text="Line 0.").click()
    mark = page.locator(f"{PANE} mark")
    mark.wait_for(state="visible")
    assert steps.nth(1).evaluate("step => step.open") and steps.nth(0).evaluate("step => step.open")
    page.get_by_text("I look.").click()  # out of the cell, where letters are typed
    select(page, "Beans")
    press(page, "e")
    assert page.locator("[data-action=add] textarea").first.input_value() == "“Beans” "
