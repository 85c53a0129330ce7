"""Clicks made while a page is still loading count: the tab shows the task, the Agreement tab the section."""

from __future__ import annotations

import re
from typing import Any

import pytest

from coeval.ui.tabs import TaskPicker
from tests.support.screens.bench import Bench


class HeldEvents:
    """Gradio's events of a page, held back at the network until they are let go in the order they were sent."""

    def __init__(self, page: Any) -> None:
        self.routes: list[Any] = []
        self.held = True
        page.route(re.compile("/queue/join|/run/predict"), self._on_event)

    def _on_event(self, route: Any) -> None:
        if self.held:
            self.routes.append(route)
        else:
            route.continue_()

    def let_go(self) -> None:
        self.held = False
        for route in self.routes:
            route.continue_()


def open_held(page: Any, bench: Bench, address: str) -> HeldEvents:
    bench.ensure_study()
    bench.sign_in(page, "Olu")
    events = HeldEvents(page)
    page.goto(f"{bench.root}/{address}")
    return events


@pytest.mark.parametrize("task", ["of the address", "the first"])
def test_a_tab_of_set_up_clicked_before_the_picker_is_filled(page: Any, bench: Bench, task: str) -> None:
    events = open_held(page, bench, f"admin/?task={bench.slug}" if task == "of the address" else "admin/")
    page.get_by_role("tab", name="Data", exact=True).click()
    page.wait_for_timeout(300)
    events.let_go()
    page.locator("#data-count").get_by_text("3 instances").wait_for()
    page.wait_for_function("document.querySelector('#task-picker input')?.value")


def test_a_page_left_open_over_a_restart_still_names_its_task() -> None:
    """After a restart Gradio remembers no choices of the pages that are open."""
    assert TaskPicker([]).preprocess("demo") == "demo"
    assert TaskPicker([]).preprocess(["demo"]) is None
