"""Images in Chromium: shown from the file and from hosts that an owner allows, and named where they are not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from coeval.usecases.access import OPERATOR
from coeval.usecases.sessions import sign_in
from coeval.usecases.study_import import import_study
from tests.conftest import make_study
from tests.support.screens.axe import faults_in_both_themes
from tests.support.screens.browser import HOW_TO_GET_IT
from tests.support.screens.ui_steps import enter, unfold
from tests.support.serving.server import Running, new_context
from tests.unit.rules.test_images import PNG, data

expect = pytest.importorskip("playwright.sync_api", reason=HOW_TO_GET_IT).expect

CELLS = {
    "photo": data(PNG),
    "plan": "https://pics.example.org/plan.png",
    "sketch": "https://pics.example.org/sketch.svg",
}


def wait_shown(place: Any, name: str) -> None:
    image = place.get_by_role("img", name=name, exact=True)
    image.wait_for()
    expect(image).to_have_js_property("complete", True)
    assert image.evaluate("one => one.naturalWidth") > 0, name


def test_images_are_shown_from_allowed_hosts_and_named_elsewhere(page: Any, tmp_path: Path) -> None:
    context = new_context(tmp_path)
    sign_in(context, "Olu")
    study = make_study(1)
    pictured = tuple(replace(one, context=CELLS) for one in study.instances)
    import_study(context, OPERATOR, replace(study, instances=pictured, runs=()))
    page.route("https://pics.example.org/**", lambda route: route.fulfill(body=PNG, content_type="image/png"))
    with Running(context) as live:
        enter(page, live.url, "Olu")
        page.goto(f"{live.url}/?task=demo&tab=scrutiny")
        images = page.locator(".wb-images")
        wait_shown(images, "photo")
        images.get_by_text("images from pics.example.org are not shown here").wait_for()
        images.get_by_text("“sketch”: an SVG can hold scripts").wait_for()
        assert images.locator("img").count() == 1
        assert not faults_in_both_themes(page)

        page.goto(f"{live.url}/admin/?task=demo&tab=hosting")
        unfold(page, "Images")
        hosts = page.locator("#image-hosts textarea")
        hosts.fill("javascript:")
        page.locator("#image-hosts-save").click()
        page.get_by_text("“javascript:” is not a host name").first.wait_for()
        hosts.fill("https://pics.example.org/plan.png")
        page.locator("#image-hosts-save").click()
        expect(hosts).to_have_value("pics.example.org")

        page.goto(f"{live.url}/?task=demo&tab=scrutiny")
        for name in ("photo", "plan"):
            wait_shown(images, name)
        larger = images.get_by_role("button", name="photo")
        larger.press("Enter")
        expect(larger).to_have_attribute("aria-expanded", "true")

        page.goto(f"{live.url}/admin/?task=demo&tab=data")
        page.locator("#data-instance input").click()
        page.get_by_role("option", name="1a").click()
        for name in ("photo", "plan"):
            wait_shown(page.locator("#data-view"), name)
    context.store.close()
