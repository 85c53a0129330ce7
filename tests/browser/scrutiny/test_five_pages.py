"""On the five pages with lines, what is typed, pasted, composed or tapped goes into the chosen cell, or nowhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from coeval.domain import Origin, Proposal
from coeval.rules.arms import Design, Layout
from coeval.usecases import criteria_rounds
from coeval.usecases.study_import import import_file
from tests.spans.bench import DRAFT, OUTPUT, SOURCE, make_span_study
from tests.support.screens.bench import Bench
from tests.support.screens.ui_steps import press
from tests.support.studies.rubrics_study import make_known_rubrics

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Locator, Page

    from coeval.usecases.access import Context
    from tests.support.serving.server import Running

WORDS = "Add and revise the words"
"""Its letters are the commands of every table: A approves, D deletes, R revises."""


@dataclass
class Lines:
    """The lines of one page, in Chromium."""

    page: Page
    name: str

    @property
    def rows(self) -> Locator:
        return self.page.locator(".sp-line" if self.name == "spans" else ".rt-row")

    @property
    def at(self) -> int:
        """The place of a line with words; those of evidence begin behind the conclusion and the score."""
        return 2 if self.name in ("scrutiny", "sheet") else 0

    @property
    def row(self) -> Locator:
        return self.rows.nth(self.at)

    @property
    def text(self) -> Locator:
        """The words of a draft, which nobody edits."""
        return self.row.locator("q" if self.name == "spans" else ".rt-text")

    def choose_version(self, act: str = "click") -> bool:
        """Choose the cell for the person's own words; a span has none, and that of the sheet opens with F2."""
        if self.name == "sheet":
            getattr(self.text, act)()
            press(self.page, "F2", "Control+A")
        elif self.name != "spans":
            getattr(self.row.locator(".rt-version"), act)()
            assert self.changed() == {}, "to select a cell changes nothing"
        return self.name != "spans"

    def changed(self) -> dict[int, str]:
        actions = self.rows.evaluate_all("rows => rows.map((row) => row.dataset.action)")
        return {n: action for n, action in enumerate(actions) if action != "none"}

    def check_version(self, words: str, by: int = 0) -> None:
        expect(self.rows.nth(self.at + by).locator(".rt-version textarea").first).to_have_value(words)

    def check_only_version(self, words: str) -> None:
        self.check_version(words)
        assert self.changed() == {self.at: "revise"}


def open_lines(page: Page, bench: Bench, name: str, folder: Path) -> None:
    """Make the study of a page, and open the page."""
    if name == "criteria":
        bench.criteria = []
        bench.ensure_study()
        texts = ["Use simple words.", "Use examples.", "Avoid jargon."]
        proposals = [Proposal(text, Origin.LLM, n, 4 - n) for n, text in enumerate(texts, 1)]
        criteria_rounds.open_round(bench.context, bench.person("Olu"), bench.slug, proposals)
        bench.open_table(page, "ballot")
    elif name == "rubrics":
        file = make_known_rubrics(documents=1).write(folder / "hb.jsonl")
        import_file(bench.context, bench.person("Olu"), file, bench.slug)
        bench.open_table(page, "rubrics")
    elif name == "spans":
        make_span_study(bench.context, slug=bench.slug, texts=[(SOURCE, OUTPUT)], drafts=[DRAFT])
        bench.open_table(page, "spans")
    else:
        bench.design = Design(layout=Layout.ALL if name == "sheet" else Layout.ONE)
        bench.open_bench(page)


EVERY = ["criteria", "scrutiny", "sheet", "rubrics", "spans"]


@pytest.fixture(scope="module", params=EVERY)
def opened(
    request: pytest.FixtureRequest,
    browser: Browser,
    bench_server: tuple[Running, Context],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Lines]:
    """One study and one page for all tests of a name: none of them saves."""
    context = browser.new_context(
        viewport={"width": 1600, "height": 1000},
        has_touch=True,
        permissions=["clipboard-read", "clipboard-write"],
    )
    context.add_init_script("localStorage.clear(); sessionStorage.clear()")  # what was typed is not restored
    page = context.new_page()
    server, study = bench_server
    bench = Bench(server, study, f"five-{request.param}", root=server.url)
    open_lines(page, bench, request.param, tmp_path_factory.mktemp(request.param))
    yield Lines(page, request.param)
    context.close()


@pytest.fixture
def lines(opened: Lines) -> Lines:
    opened.page.reload()
    opened.rows.nth(opened.at).wait_for()
    return opened


def test_mouse(lines: Lines) -> None:
    lines.text.click()
    lines.page.keyboard.type(WORDS + " 3")
    assert lines.changed() == {}
    expect(lines.page.locator(".ce-toast", has_text="cannot be edited")).to_have_count(1)
    if lines.choose_version():
        lines.page.keyboard.type(WORDS)
        lines.check_only_version(WORDS)
    else:
        press(lines.page, "Escape", "d")
        assert lines.changed() == {lines.at: "delete"}, "after Esc letters are commands"


def test_keyboard(lines: Lines) -> None:
    lines.row.focus()
    press(lines.page, "d")
    assert lines.changed() == {lines.at: "delete"}
    if lines.name != "spans":
        lines.row.focus()
        press(lines.page, "F2", "Control+A")
        lines.page.keyboard.type(WORDS)
        press(lines.page, "Enter")
        lines.check_only_version(WORDS)
        lines.row.focus()
        press(lines.page, "F2")
        lines.page.keyboard.type(" more")
        press(lines.page, "Escape")
        lines.check_only_version(WORDS)


def test_touch(lines: Lines) -> None:
    lines.text.tap()
    lines.page.keyboard.type(WORDS)
    assert lines.changed() == {}
    if lines.choose_version("tap"):
        lines.page.keyboard.type(WORDS)
        lines.check_only_version(WORDS)
    lines.row.locator(".rt-delete, .sp-buttons [aria-label^=Delete]").first.tap()
    assert lines.changed() == {lines.at: "delete"}


def test_three_rows_of_a_spreadsheet(lines: Lines) -> None:
    lines.page.evaluate("() => navigator.clipboard.writeText('one\\n\"two\\nlines\"\\nthree')")
    lines.text.click()
    press(lines.page, "Control+V")
    assert lines.changed() == {}, "a draft is not overwritten"
    if lines.name == "sheet":
        lines.row.focus()  # F2 opens the cell for edits, and a paste is then one text
    if lines.name == "sheet" or lines.choose_version():
        press(lines.page, "Control+V")
        for by, words in enumerate(["one", "two\nlines", "three"]):
            lines.check_version(words, by)
        assert lines.changed() == dict.fromkeys(range(lines.at, lines.at + 3), "revise")


def compose(page: Page, text: str) -> None:
    """Types with an input method: the letters are composed, and an Enter of the method chooses the word."""
    session = page.context.new_cdp_session(page)
    for end in range(1, len(text) + 1):
        key = {"type": "rawKeyDown", "windowsVirtualKeyCode": 229, "key": "Process", "code": "KeyA"}
        session.send("Input.dispatchKeyEvent", key)
        at = {"selectionStart": end, "selectionEnd": end}
        session.send("Input.imeSetComposition", {"text": text[:end], **at})
    enter = {"type": "rawKeyDown", "windowsVirtualKeyCode": 229, "key": "Enter", "code": "Enter"}
    session.send("Input.dispatchKeyEvent", enter)
    session.send("Input.insertText", {"text": text})


def test_input_method(lines: Lines) -> None:
    lines.text.click()
    compose(lines.page, "言葉")
    assert lines.changed() == {}
    if lines.choose_version():
        compose(lines.page, "簡単な言葉")
        lines.check_only_version("簡単な言葉")
        expect(lines.row.locator(".rt-version textarea").first).to_be_focused()


def test_arabic_layout(lines: Lines) -> None:
    session = lines.page.context.new_cdp_session(lines.page)

    def strike(key: str, code: str) -> None:
        for kind in ("keyDown", "keyUp"):
            text = {"text": key} if kind == "keyDown" else {}
            session.send("Input.dispatchKeyEvent", {"type": kind, "key": key, "code": code, **text})

    lines.text.click()
    strike("ش", "KeyA")
    assert lines.changed() == {}
    press(lines.page, "Escape")
    lines.row.focus()
    strike("ي", "KeyD")
    assert lines.changed() == {lines.at: "delete"}
    if lines.name != "spans":
        lines.row.focus()
        strike("ق", "KeyR")
        press(lines.page, "Control+A")
        for letter, code in (("ش", "KeyA"), ("ي", "KeyD"), ("٣", "Digit3")):
            strike(letter, code)
        lines.check_only_version("شي٣")
    else:
        strike("٢", "Digit2")
        assert lines.changed() == {lines.at: "delete", lines.at + 1: "revise"}, (
            "the severity of the next span"
        )
