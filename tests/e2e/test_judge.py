"""From a scrutinised study to a judge in a file, in Chromium: split, learn, certify, take away."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from coeval.domain import Role
from coeval.judge.artifact.files import parse_judge
from coeval.judge.certificate.schema import Certificate
from coeval.study.access import OPERATOR, Context
from coeval.study.people.sessions import set_role, sign_in
from tests.browser.test_access import faults
from tests.support.screens.ui_steps import enter, settle
from tests.support.serving.server import Running
from tests.support.studies.judged_study import OVERRATED, serve_judged

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture
def server(context: Context) -> Iterator[Running]:
    """A server of this walk's own: a task is sealed once, so that a walk tried again needs a fresh file."""
    for name in ("Olu", "Rae", "Ann"):
        sign_in(context, name)
    set_role(context, OPERATOR, "Rae", Role.RESEARCHER)
    with serve_judged(context) as (connected, _), Running(connected) as live:
        yield live


def test_from_a_scrutinised_study_to_a_judge_in_a_file(server: Running, page: Page) -> None:
    page.set_default_timeout(60_000)
    enter(page, server.url, "Olu")
    page.goto(f"{server.url}/?task=judged&tab=judge")
    page.get_by_text("Not sealed yet: the task has 24 documents.").wait_for()
    assert page.get_by_text("Seal first.").is_visible() and not page.locator("#judge-learn").is_visible()

    page.get_by_role("button", name="Split and seal").click()
    page.get_by_text("12 documents to fit on and 12 sealed, a share of 50%").wait_for()
    page.locator("#judge-seal-go").wait_for(state="hidden")

    page.get_by_role("button", name="Learn and freeze").click()
    kept = page.locator("#judge-learned li")
    kept.filter(has_text=f"Calibration by “{OVERRATED}”").wait_for()
    assert kept.count() == 1
    assert "The seal has not been opened yet." in page.locator("#judge-openings").inner_text()

    page.get_by_role("button", name="Open the seal and certify").click()
    page.get_by_text("to open it now, type “opening 1”").wait_for()
    page.get_by_label("Type what is asked for above").fill("opening 1")
    page.get_by_role("button", name="Open the seal and certify").click()
    page.get_by_text("This is the first opening of the seal").wait_for()
    page.get_by_text("The seal was opened 1 time before.").wait_for()
    assert (
        "The judge is nearer to people's scores than a constant"
        in page.locator("#judge-certificate").inner_text()
    )
    page.reload()  # the message of the refusal is gone then, which is not ours
    page.get_by_text("The seal was opened 1 time before.").wait_for()
    settle(page)
    assert not faults(page)

    with page.expect_popup() as opened:
        page.get_by_role("link", name="Read the certificate").click()
    certificate = opened.value
    certificate.get_by_role("heading", name="What it is not shown to be good for").wait_for()
    assert certificate.get_by_role("img", name="Calibration").is_visible()
    assert not faults(certificate)
    with page.expect_download() as as_json:
        page.get_by_role("link", name="as JSON").click()
    written = Certificate.model_validate_json(as_json.value.path().read_text("utf-8"))
    with page.expect_download() as taken:
        page.get_by_role("link", name="judge.json").click()
    assert taken.value.suggested_filename == "judge.json"
    file = parse_judge(taken.value.path().read_bytes())
    assert file.certificate and file.certificate["opening"] == 1 == written.opening
    assert file.fitted.calibration and set(file.fitted.calibration.maps) == {OVERRATED}

    page.set_viewport_size({"width": 390, "height": 844})
    page.get_by_role("button", name="Open the seal and certify").scroll_into_view_if_needed()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "the page scrolls sideways"

    page.context.clear_cookies()
    enter(page, server.url, "Rae")
    page.goto(f"{server.url}/?task=judged&tab=judge")
    page.get_by_text("The seal was opened 1 time before.").wait_for()
    for button in ("#judge-seal-go", "#judge-learn", "#judge-certify"):
        assert not page.locator(button).is_visible(), button
    assert not page.get_by_role("link", name="judge.json").count()
    page.context.clear_cookies()
    enter(page, server.url, "Ann")
    page.goto(f"{server.url}/?task=judged&tab=judge")
    page.get_by_text("The team sees the judge").wait_for()
    assert not page.locator("#judge-steps").is_visible()
