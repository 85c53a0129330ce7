"""The events of a page that listen to the study."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import gradio as gr
import pytest

from coeval.domain import Person
from coeval.ui import tab_pages
from coeval.ui.app.scrutiny_tab import ScrutinyTab
from coeval.usecases.access import Context


def test_an_event_that_lists_the_tabs_builds_no_corner(
    context: Context, owner: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    corners: list[str] = []
    monkeypatch.setattr(tab_pages, "get_person", lambda *_: owner)
    page = tab_pages.Page(context, [ScrutinyTab])
    page.corner = lambda person, slug: corners.append(slug) or ""
    request: Any = SimpleNamespace(query_params={})
    assert page._on_wanted("", request) == [gr.skip()] and corners == []
    _, *doors = page._on_follow("", request)
    assert doors == [gr.skip()] and corners == [""]
