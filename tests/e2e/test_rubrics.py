"""The Rubrics tab in Chromium: criteria decided and judged by keyboard, on a phone, and from right to left."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from coeval.domain import Person
from coeval.extensions.rubrics import queries
from coeval.extensions.rubrics.drafting import judge_rubrics
from coeval.extensions.rubrics.queries import Submission
from coeval.extensions.rubrics.questions import RubricsRun
from coeval.extensions.rubrics.reviews import get_rubrics_sheet
from coeval.store.queries import tasks
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.drafting.model_requests import MAX_TOKENS
from coeval.usecases.sessions import sign_in
from coeval.usecases.study_import import ImportOptions, import_file
from tests.support.models.openai_stub import Stub
from tests.support.screens.axe import faults
from tests.support.screens.ui_steps import enter, press, settle, unfold, wait_a_while
from tests.support.serving.server import Running, new_context
from tests.support.studies.rubrics_study import make_known_rubrics, serve_rubrics_judge

if TYPE_CHECKING:
    from playwright.sync_api import Page

ARABIC = {
    "prompt_id": "p1",
    "prompt": [{"role": "user", "content": "لماذا السماء زرقاء؟"}],
    "completion": "يتشتت الضوء الأزرق في الهواء أكثر من غيره.",
    "rubrics": [
        {"criterion": f"يذكر السبب رقم {n}.", "points": 2 - n, "tags": ["axis:الدقة"]} for n in range(4)
    ],
}


@dataclass(frozen=True)
class Served:
    url: str
    context: Context
    ann: Person
    stub: Stub

    def saved(self, slug: str = "hb") -> list[Submission]:
        with self.context.store.read() as db:
            task = tasks.get_task(db, slug)
            assert task is not None
            return queries.list_submissions(db, task.id)

    def wait_saved(self, page: Page, count: int, slug: str = "hb") -> list[Submission]:
        for _ in wait_a_while(page):
            if len(found := self.saved(slug)) >= count:
                return found
        raise AssertionError(f"{len(found)} of {count} sheets were saved")

    def open(self, page: Page, slug: str = "hb") -> None:
        enter(page, self.url, "Ann")
        page.goto(f"{self.url}/?task={slug}&tab=rubrics")
        page.locator(".rx .rt-row").first.wait_for()
        settle(page)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("rubrics")
    context = new_context(folder)
    owner, ann = sign_in(context, "Olu")[0], sign_in(context, "Ann")[0]
    import_file(context, owner, make_known_rubrics(documents=2).write(folder / "hb.jsonl"), "hb")
    (folder / "ar.jsonl").write_text(json.dumps(ARABIC), encoding="utf-8")
    import_file(context, owner, folder / "ar.jsonl", "ar", options=ImportOptions(language="ar"))
    with serve_rubrics_judge(context) as (connected, stub):
        with ThreadPoolExecutor(1) as apart:  # where a browser is open, an event loop runs in this thread
            apart.submit(asyncio.run, judge_rubrics(connected, owner, "hb", RubricsRun())).result()
        with Running(connected) as live:
            yield Served(live.url, context, ann, stub)


def test_an_instance_is_decided_and_judged_by_keyboard(served: Served, page: Page) -> None:
    served.open(page)
    sheet = get_rubrics_sheet(served.context, served.ann, "hb")
    texts = [one.rubric.text for one in sheet.criteria]
    assert page.locator(".rx .rt-text").all_inner_texts() == texts
    assert "The draft says:" in page.locator(".rx .rt-row").first.inner_text()
    rows = page.locator(".rx .rt-row")
    press(page, "a")  # keeps the criterion and the draft's verdict
    press(page, "1")  # met, and kept
    press(page, "r")
    page.get_by_label("New wording of 3 · −6").fill("States nothing else.")
    press(page, "Enter")
    rows.nth(2).focus()
    press(page, "u")
    rows.nth(3).focus()
    press(page, "d")
    page.get_by_label("Reason for 4 · +3").fill("Not asked.")
    press(page, "Enter", "n")
    page.get_by_label("Added criterion", exact=True).fill("Is kind.")
    page.get_by_label("Points", exact=True).last.fill("2")
    press(page, "Enter")
    press(page, "Control+Enter")  # refused: it has no judgment yet
    page.get_by_text("say whether it is met").first.wait_for()
    assert not served.saved()
    rows.last.focus()
    press(page, "m")
    # words of the answer as evidence for the first criterion
    rows.first.focus()
    page.evaluate(
        """() => {
        const text = document.querySelector('.rx .wb-pane-output .wb-text');
        const node = document.createTreeWalker(text, NodeFilter.SHOW_TEXT).nextNode();
        getSelection().setBaseAndExtent(node, 0, node, 14);
    }"""
    )
    press(page, "e", "Enter", "Control+Enter")
    (saved,) = served.wait_saved(page, 1)
    lines = saved.lines
    assert [line.action for line in lines] == ["approve", "approve", "revise", "delete", "add"]
    drafted = [sheet.judgments[one.id].value for one in sheet.criteria]
    assert [line.value for line in lines] == [drafted[0], 1.0, 0.0, None, 1.0]
    assert (lines[2].text, lines[2].points) == ("States nothing else.", -6.0)
    assert (lines[3].reason, lines[4].text, lines[4].points) == ("Not asked.", "Is kind.", 2.0)
    assert lines[0].evidence == "“Here is what I”"
    assert saved.annotator == served.ann.id and saved.opened_at
    page.get_by_text("1 of 4 instances with criteria are judged.").wait_for()
    # back to what was saved: it stands there, with both scores
    press(page, "k")
    page.get_by_text("Your score:").wait_for()
    assert page.get_by_label("Added criterion", exact=True).input_value() == "Is kind."


def test_on_a_phone_and_from_right_to_left(served: Served, page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    served.open(page, "ar")
    assert page.evaluate("[document.documentElement.scrollWidth, document.documentElement.dir]") == [
        390,
        "rtl",
    ]
    row = page.locator(".rx .rt-row").first
    assert row.locator(".rt-text").inner_text() == "يذكر السبب رقم 0."
    met, other = (row.get_by_role("radio", name=name, exact=True) for name in ("متحقق", "غير متحقق"))
    assert met.bounding_box()["x"] < other.bounding_box()["x"]  # type: ignore[index]
    for n in range(4):
        page.locator(".rx .rt-row").nth(n).get_by_role("radio", name="متحقق", exact=True).click()
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    settle(page)
    assert not faults(page)
    page.locator(".rx .wb-foot .is-primary").click()
    (saved,) = served.wait_saved(page, 1, "ar")
    assert {line.value for line in saved.lines} == {1.0}
    page.locator(".rx .wb-end").wait_for()


def test_owners_read_the_figures_and_start_the_model(served: Served, page: Page, tmp_path: Path) -> None:
    known = make_known_rubrics(documents=1, seed=5).write(tmp_path / "own.jsonl")
    import_file(served.context, OPERATOR, known, "own")
    enter(page, served.url, "Olu")
    page.goto(f"{served.url}/?task=own&tab=rubrics")
    page.get_by_text("2 of 2 instances have their own criteria (8 criteria).").wait_for()
    unfold(page, "Draft with a model")
    page.get_by_role("button", name="Judge every instance").click()
    page.locator("#rubrics-told").get_by_text("8 written, 0 unscored, 0 failed").wait_for()
    assert served.stub.bodies[-1]["max_tokens"] == MAX_TOKENS, "no answer is without a limit"
    assert page.get_by_text("Score by the judge:").is_visible()
    enter(page, served.url, "Ann")
    page.goto(f"{served.url}/?task=hb&tab=rubrics")
    page.locator(".rx .rt-row").first.wait_for()
    assert (
        not page.get_by_text("Score by the judge").count() and not page.locator("#rubrics-judge").is_visible()
    )
