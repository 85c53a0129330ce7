"""Scrutiny in a browser against the real server: keys only, a killed server, and the first score."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from coeval.domain import Criterion, Study, Task
from coeval.rules.arms import Design
from coeval.settings import load_settings
from coeval.store import Store
from coeval.usecases.access import Context
from coeval.usecases.scrutiny.design import set_design
from coeval.usecases.sessions import sign_in
from coeval.usecases.study_import import import_study
from tests.conftest import make_draft, make_study
from tests.support.screens.ui_steps import enter, focused, press
from tests.support.serving.live_server import LiveServer, start_server

DESIGNS = {
    "keys": Design(),
    "killed": Design(),
    "first": Design(first_share=1),
}
"""A task for every test, so that one server does for all of them."""
DRAFTED = ("It does.", "The answer” is plain", "no such words")
Json = dict[str, Any]


def five_by_five(slug: str) -> Study:
    """Five instances by five criteria, each with a draft of four lines."""
    study = make_study(3)
    texts = ("Use simple words.", "Be true.", "Be brief.", "Be kind.", "Answer what was asked.")
    instances = study.instances[:5]
    drafts = tuple(make_draft(one, text) for one in instances for text in texts)
    return Study(
        Task(slug, slug), instances, tuple(map(Criterion, texts)), (replace(study.runs[0], drafts=drafts),)
    )


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    db = tmp_path_factory.mktemp("scrutiny") / "coeval.db"
    context = Context(Store(db), load_settings({}, db=db))
    owner = sign_in(context, "Olu")[0]
    for slug, design in DESIGNS.items():
        import_study(context, owner, five_by_five(slug))
        set_design(context, owner, slug, design)
    context.store.close()
    live = start_server(db)
    yield live
    live.stop()


@pytest.fixture
def open_task(page: Any, server: LiveServer) -> Callable[[str], Any]:
    """Sign in as an annotator and open the scrutiny of a task."""

    def open_(slug: str) -> Any:
        enter(page, server.url, "Ana")
        return show(page, server, slug)

    return open_


def show(page: Any, server: LiveServer, slug: str) -> Any:
    page.goto(f"{server.url}/?task={slug}")
    tab = page.get_by_role("tab", name="Scrutiny")
    tab.focus()
    page.keyboard.press("Enter")
    page.locator(".wb[data-state=step][aria-busy=false] .rt-row").first.wait_for()
    return page


def saved(server: LiveServer, slug: str) -> list[Json]:
    """Every submission of a task as the file holds it."""
    return read(
        server.db,
        "SELECT s.*, i.external_id FROM submission s JOIN instance i ON i.id = s.instance"
        " JOIN task t ON t.id = i.task WHERE t.slug = ? ORDER BY s.id",
        slug,
    )


def read(db: Path, sql: str, *values: object) -> list[Json]:
    connection = sqlite3.connect(f"file:{db}?mode=ro", uri=True)
    connection.row_factory = sqlite3.Row
    try:
        return [dict(row) for row in connection.execute(sql, values)]
    finally:
        connection.close()


def decide(page: Any, score: int = 3) -> None:
    """Conclusion, score and two lines of evidence, by their keys."""
    press(page, "a", str(score), "a", "a")


def wait_for_step(page: Any, position: int, criterion: int) -> None:
    page.wait_for_function(
        """([position, criterion]) => document.querySelector('.wb-jump').value === position
          && document.querySelector('.wb-chip[aria-current]')?.ariaLabel.startsWith(`Criterion ${criterion}:`)
          && !document.querySelector('.wb[data-saving], .rt-act:disabled, .rt-step:disabled')""",
        arg=[str(position), criterion],
    )


def test_one_person_keys_only_confirms_25_criteria_of_5_instances(
    open_task: Callable[[str], Any], server: LiveServer, tmp_path: Path
) -> None:
    """The run is recorded, with pictures: ``playwright show-trace`` opens what lies in pytest's folder."""
    page = open_task("keys")
    page.context.tracing.start(screenshots=True, title="25 criteria by the keyboard")
    page.evaluate(
        """() => { window.clicks = 0;
        for (const name of ['mousedown', 'pointerdown', 'touchstart'])
          window.addEventListener(name, () => (window.clicks += 1), true) }"""
    )
    for n in range(25):
        wait_for_step(page, n // 5 + 1, n % 5 + 1)
        decide(page, n % 5 + 1)
        assert focused(page).startswith("Confirm and next")
        press(page, "Control+Enter")
    page.locator(".wb-end").get_by_text("That was the last one").wait_for()
    page.context.tracing.stop(path=tmp_path / "keys-only.zip")
    assert page.evaluate("window.clicks") == 0
    found = saved(server, "keys")
    assert len(found) == 25 == len({(one["instance"], one["criterion"]) for one in found})
    assert [one["score"] for one in found] == [1, 2, 3, 4, 5] * 5
    assert all(one["active_ms"] is not None and one["opened_at"] for one in found)


def test_kill_9_between_click_and_answer(open_task: Callable[[str], Any], server: LiveServer) -> None:
    """The server dies when it has saved and not answered yet."""
    slug = "killed"
    page = open_task(slug)
    decide(page)
    press(page, "Control+Enter")
    wait_for_step(page, 1, 2)
    (acknowledged,) = saved(server, slug)

    def kill(route: Any) -> None:
        route.fetch()
        server.kill9()
        route.abort("connectionreset")

    page.route("**/submissions", kill, times=1)
    press(page, "a", "2", "r", "Control+A")
    page.keyboard.type("words that took a while to find")
    press(page, "Enter", "a", "Control+Enter")
    page.get_by_text("Offline: kept here").wait_for()
    assert "words that took a while to find" in page.locator(".rt").inner_text() + "".join(
        page.locator(".rt textarea").evaluate_all("boxes => boxes.map((box) => box.value)")
    )
    server.restart()
    wait_for_step(page, 1, 3)
    first, second = saved(server, slug)
    assert first == acknowledged
    assert (second["score"], second["revision"]) == (2, 1)
    lines = read(
        server.db, "SELECT text FROM submission_row WHERE submission = ? AND action = 'revise'", second["id"]
    )
    assert {"text": "words that took a while to find"} in lines


def test_judge_first_then_see_the_draft(open_task: Callable[[str], Any], server: LiveServer) -> None:
    page = open_task("first")
    assert "Give your own score first" in page.locator(".wb-arm[data-kind]").inner_text()
    assert page.locator(".rt-row").count() == 1 and page.locator(".rt-add").count() == 0
    assert not [text for text in DRAFTED if text in page.locator(".wb").inner_text()]
    press(page, "2", "Control+Enter")
    page.get_by_text("Your score before the draft was 2").wait_for()
    assert "It does." in page.locator(".rt").inner_text()
    assert page.locator(".rt-step[aria-checked=true]").inner_text() == "2"
    assert saved(server, "first") == []
    press(page, "a", "a", "a", "Control+Enter")
    wait_for_step(page, 1, 2)
    (one,) = saved(server, "first")
    assert (one["arm"], one["score"], one["shown_score"]) == ("first", 2, 4)
    (first,) = read(server.db, "SELECT * FROM first_score")
    assert (first["score"], first["instance"], first["criterion"]) == (2, one["instance"], one["criterion"])
