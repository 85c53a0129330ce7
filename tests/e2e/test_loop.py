"""The whole loop in a browser: an owner and two annotators, from a stated task to a CSV with the page's alpha."""

from __future__ import annotations

import csv
import itertools
import re
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import krippendorff
import numpy as np
import pytest

from tests.support.models.openai_stub import start_stub
from tests.support.screens.browser import HOW_TO_GET_IT
from tests.support.screens.ui_steps import settle, unfold
from tests.support.serving.live_server import LiveServer

expect = pytest.importorskip("playwright.sync_api", reason=HOW_TO_GET_IT).expect

ANSWERS = """question,answer,model
How do I boil an egg?,Put it into boiling water for eight minutes.,first
How do I boil an egg?,Boil it.,second
Why is the sky blue?,The air scatters blue light more than red light.,first
Why is the sky blue?,Because it is.,second
"""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[LiveServer]:
    with start_stub() as stub:
        live = LiveServer(tmp_path / "coeval.db", OPENAI_BASE_URL=stub.url)
        yield live
        live.stop()


def sign_in(page: Any, server: LiveServer, name: str) -> None:
    page.goto(server.url)
    page.get_by_label("Your name").fill(name)
    page.get_by_role("button", name="Sign in").click()
    page.locator("#me").get_by_text(name).wait_for()


def state_task(page: Any, server: LiveServer) -> None:
    page.goto(f"{server.url}/admin/")
    unfold(page)
    page.locator("#task-slug textarea, #task-slug input").wait_for()
    slug = page.locator("#task-slug textarea, #task-slug input")
    expect(slug).to_be_disabled()
    settle(page)  # the page's second load, of the design box, is over then
    page.get_by_role("button", name="New task").click()
    page.locator("#task-state").get_by_text("Describe your task").wait_for()
    expect(slug).to_be_enabled()
    expect(slug).to_have_value("")
    page.locator("#task-name textarea, #task-name input").fill("Everyday questions")
    page.locator("#task-slug textarea, #task-slug input").fill("everyday")
    page.locator("#task-description textarea, #task-description input").fill("Answer an everyday question.")
    page.get_by_role("button", name="Save task").click()
    page.locator("#task-state").get_by_text("0 instances imported").wait_for()


def import_answers(page: Any, folder: Path) -> None:
    path = folder / "answers.csv"
    path.write_text(ANSWERS, encoding="utf-8")
    page.get_by_role("tab", name="Import").click()
    page.locator("#import-into").get_by_text("Everyday questions").wait_for()
    page.locator("#import-file input[type=file]").set_input_files(path)
    page.locator("#import-note").get_by_text("4 rows").wait_for()
    page.get_by_label("Use of model").select_option("System")
    page.get_by_role("button", name="Import", exact=True).click()
    page.locator("#import-note").get_by_text("added 4 instances").wait_for()


def vote(page: Any, server: LiveServer, *, delete_last: bool) -> None:
    """Vote with the keyboard alone: approve each, or delete the last with a reason."""
    page.goto(f"{server.url}/?task=everyday")
    rows = page.locator("#ballot .rt-row")
    rows.first.wait_for()
    for n in range(rows.count()):
        last = n == rows.count() - 1
        page.keyboard.press("d" if last and delete_last else "a")
        if last and delete_last:
            page.keyboard.type("not needed here")
    page.keyboard.press("Control+Enter")
    page.locator("#ballot .wb-status").get_by_text(re.compile(r"^Saved \d")).wait_for()


def scrutinise(page: Any, server: LiveServer, scores: Iterator[int]) -> None:
    """Approve every line and give each evaluation the next score, until nothing is left."""
    page.goto(f"{server.url}/?task=everyday")
    page.get_by_role("tab", name="Scrutiny").click()
    finished = page.locator(".wb-end")
    for n in itertools.count(1):
        # the step before stays on screen, locked, until the next is here
        page.locator("#workbench .rt-step:enabled:visible, .wb-end:visible").first.wait_for()
        if finished.is_visible():
            assert n == 21, "4 instances by 5 criteria are 20 evaluations"
            return
        page.locator(".rt-score").get_by_role("radio").nth(next(scores) - 1).click()
        page.locator(".wb-rest[aria-disabled=false]").wait_for()  # every line was in view
        page.keyboard.press("Shift+A")
        with page.expect_response(lambda answer: answer.url.endswith("/submissions")) as answer:
            page.keyboard.press("Control+Enter")
        assert answer.value.ok, answer.value.text()


def alpha_of(path: Path) -> float:
    """The tab's headline from the file: the mean of the criteria's ordinal alphas."""
    with path.open(encoding="utf-8", newline="") as file:
        _, *units = csv.reader(file)
    by_criterion: dict[str, list[list[float]]] = {}
    for _, criterion, *cells in units:
        scores = [float(cell) if cell else np.nan for cell in cells]
        by_criterion.setdefault(criterion, []).append(scores)
    alphas = [
        krippendorff.alpha(np.array(rows).T, level_of_measurement="ordinal") for rows in by_criterion.values()
    ]
    return float(np.mean(alphas))


def new_page(browser: Any) -> Any:
    context = browser.new_context(viewport={"width": 1440, "height": 900}, accept_downloads=True)
    return context.new_page()


@pytest.mark.journey
def test_the_whole_loop(browser: Any, server: LiveServer, tmp_path: Path) -> None:
    owner, ana, ben = (new_page(browser) for _ in range(3))
    for one, name in ((owner, "Olu"), (ana, "Ana"), (ben, "Ben")):
        sign_in(one, server, name)

    state_task(owner, server)
    import_answers(owner, tmp_path)

    owner.goto(f"{server.url}/?task=everyday")
    owner.get_by_role("button", name="Draft criteria").click()
    owner.locator("#ballot .rt-row").nth(4).wait_for()
    for one, delete_last in ((owner, False), (ana, True), (ben, False)):
        vote(one, server, delete_last=delete_last)
    # the page follows the votes of others by itself
    owner.locator("#tally").get_by_text(re.compile(r"Tally · 3 of \d ballots")).wait_for()
    owner.goto(f"{server.url}/?task=everyday")
    owner.locator("#tally").get_by_text("approve 67% · delete 33%").wait_for()
    owner.get_by_role("button", name="Finalise criteria").click()
    owner.get_by_role("dialog").get_by_role("button", name="Finalise", exact=True).click()
    owner.get_by_text("Final criteria · version 1").wait_for()

    owner.goto(f"{server.url}/admin/?task=everyday")
    owner.get_by_role("tab", name="Pre-fill").click()
    owner.locator("#jobs").get_by_text("Nothing has been pre-filled yet").wait_for()
    owner.get_by_role("button", name="Estimate").click()
    owner.locator("#prefill-note").get_by_text("20 calls").wait_for()
    owner.get_by_role("button", name="Start", exact=True).click()
    owner.locator("#jobs").get_by_text("20 drafted").wait_for(timeout=30_000)

    # rounds of seven, so that no criterion gets the same score throughout and its alpha is defined
    scrutinise(ana, server, itertools.cycle([1, 2, 3, 4, 5, 3, 2]))
    scrutinise(ben, server, itertools.cycle([2, 2, 3, 4, 4, 3, 2]))

    owner.goto(f"{server.url}/?task=everyday")
    owner.get_by_role("tab", name="Agreement").click()
    tile = owner.locator(".tile").filter(has_text="Alpha, people")
    tile.locator(".big").wait_for(timeout=60_000)
    page_alpha = float(tile.locator(".big").get_attribute("data-value"))
    with owner.expect_download() as download:
        tile.get_by_role("link", name="Rows (CSV)").click()
    path = tmp_path / "reliability.csv"
    download.value.save_as(path)
    assert alpha_of(path) == pytest.approx(page_alpha, abs=1e-9)
    owner.get_by_text("Paper files and downloads").click()
    with owner.expect_download() as download:
        owner.locator("a[href*='/export.zip']:visible").first.click()
    download.value.save_as(tmp_path / "export.zip")
    with zipfile.ZipFile(tmp_path / "export.zip") as archive:
        scores = list(csv.DictReader(archive.read("scores.csv").decode().splitlines()))
    assert Counter(row["annotator"] for row in scores) == {"Ana": 20, "Ben": 20}
