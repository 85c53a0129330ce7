"""A crowd study that acknowledges only what is in its snapshot place: what a person who consents sees meanwhile."""

from __future__ import annotations

import urllib.parse
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from coeval.domain import Plan, Terms
from coeval.settings import Snapshots, load_settings
from coeval.ui.server import ship_first
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.crowd import plans
from coeval.usecases.hosting.startup import open_kept
from coeval.usecases.study_import import import_study
from tests.conftest import make_place, make_study
from tests.support.screens.axe import faults_in_both_themes
from tests.support.screens.browser import HOW_TO_GET_IT
from tests.support.serving.server import Running
from tests.support.studies.crowd_links import query

if TYPE_CHECKING:
    from playwright.sync_api import Page

expect: Any = pytest.importorskip("playwright.sync_api", reason=HOW_TO_GET_IT).expect

TERMS = Terms(
    consent="We keep it.", guidelines="# Page one", service="prolific", code_done="DONE1", code_declined="NO1"
)


def test_a_consent_that_waits_says_so_and_goes_on_when_it_is_sent_again(
    page: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = load_settings({}, db=tmp_path / "live" / "coeval.db")
    settings = replace(base, snapshots=Snapshots(make_place(tmp_path / "place"), ship_first=True))
    store, keeper = open_kept(settings)
    assert keeper is not None
    with closing(store):
        context = Context(store, settings)
        import_study(context, OPERATOR, make_study())
        plans.set_plan(context, OPERATOR, "demo", Plan(per_instance=1, batch=2, quota=4, terms=TERMS))
        monkeypatch.setattr(ship_first, "PATIENCE_SECONDS", 0.5)  # nothing is shipped yet
        with Running(context) as server:
            page.goto(f"{server.url}/s/demo?{urllib.parse.urlencode(query(1))}")
            page.get_by_role("button", name="I agree").click()
            expect(
                page.get_by_text("Your change is saved, but its backup is not complete after 0.5 seconds")
            ).to_be_visible()
            assert faults_in_both_themes(page) == [] and page.get_by_role("link").count() == 0
            keeper.start()
            page.reload()  # Chromium asks a person first whether it may send the form again
            expect(page.get_by_text("it is shown only now")).to_be_visible()
            page.get_by_role("link", name="Continue").click()
            expect(page.get_by_role("heading", name="Page one")).to_be_visible()
        keeper.stop()
