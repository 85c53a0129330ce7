"""The first page, in Chromium: its head names all parts that Gradio would load in chains, and the tab opens at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from gradio import brotli_middleware

from coeval.ui.server import gradio_gate
from coeval.usecases.sessions import get_member
from tests.support.screens.browser import HOW_TO_GET_IT
from tests.support.screens.ui_steps import enter, settle
from tests.support.serving.server import Running, new_context

expect = pytest.importorskip("playwright.sync_api", reason=HOW_TO_GET_IT).expect
pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with Running(new_context(tmp_path_factory.mktemp("first"), demo=True)) as live:
        yield live


def open_cold(page: Any, address: str) -> list[str]:
    """Open the page with an empty cache; return the paths of all requests."""
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url.partition("//")[2].partition("/")[2]))
    network = page.context.new_cdp_session(page)
    network.send("Network.enable")
    network.send("Network.setCacheDisabled", {"cacheDisabled": True})
    page.goto(address)
    return asked


@pytest.mark.parametrize("path", ["", "admin/"])
def test_the_head_names_every_part_that_gradio_loads(page: Any, server: Running, path: str) -> None:
    enter(page, server.url, "Owner")
    asked = open_cold(page, f"{server.url}/{path}")
    settle(page)
    named = page.evaluate(
        "async () => [...new DOMParser().parseFromString(await (await fetch(location.href)).text(), 'text/html')"
        ".querySelectorAll('link, script[src]')].map(node => new URL("
        "node.getAttribute('href') ?? node.getAttribute('src'), document.baseURI).pathname.slice(1))"
    )
    parts = [address.partition("?")[0] for address in asked if "/assets/" in f"/{address}"]
    assert parts and not set(parts) - set(named)
    assert not [address for address in asked if "theme.css" in address or "iframeResizer" in address]
    assert [address.partition("?")[0] for address in asked if ".css" in address] == [f"{path}page.css"]


def test_parts_of_other_tabs_come_when_these_open(page: Any, server: Running) -> None:
    """A page that opens with Scrutiny asks for few files; the fields of the other tabs are there once they open."""
    enter(page, server.url, "Owner")
    bodies: list[str] = []
    page.on("request", lambda request: bodies.append(request.post_data or ""))
    asked = open_cold(page, f"{server.url}/?task=demo&tab=scrutiny")
    page.locator(".wb[data-state=step] .rt-row").first.wait_for()
    settle(page)
    assert len(asked) <= 40, asked
    late = ("Plot-", "api/shipped", "extensions/")
    assert not [address for address in asked if any(part in address for part in late)]
    assert [body for body in bodies if '"Scrutiny"' in body]
    assert not [body for body in bodies if '"Criteria"' in body], (
        "a tab opens without the first one before it"
    )
    page.get_by_role("tab", name="Agreement").click()
    expect(page.locator("#agreement-section input[type=radio]").first).to_be_visible()
    page.get_by_text("Publish the study as one HTML file").click()
    expect(page.get_by_label("Names of people")).to_be_visible()
    assert [address for address in asked if "Plot-" in address]
    page.get_by_role("tab", name="Criteria").click()
    expect(page.locator("#propose")).to_be_visible()
    page.get_by_text("Draft or write criteria").click()
    expect(page.locator("#criteria-lines textarea")).to_be_visible()


SEEN = """() => {
  window.seen = new Set();
  const look = () => {
    const tab = document.querySelector('#tabs [role=tab][aria-selected=true]');
    if (tab && getComputedStyle(tab).visibility === 'visible') window.seen.add(tab.textContent.trim());
    requestAnimationFrame(look);
  };
  look();
}"""
"""Notes in each frame which tab is in view."""


@pytest.mark.parametrize(("address", "tab"), [("admin/?tab=crowd", "Crowd"), ("?tab=spans", "Spans")])
def test_no_other_tab_is_in_view_before_the_one_that_opens(
    page: Any, server: Running, address: str, tab: str
) -> None:
    enter(page, server.url, "Owner")
    page.add_init_script(f"({SEEN})()")
    page.goto(f"{server.url}/{address}")
    expect(page.get_by_role("tab", selected=True)).to_have_text(tab, timeout=20_000)
    settle(page)
    assert page.evaluate("[...window.seen]") == [tab]
    if tab == "Spans":  # the script of an extension came with its screen
        assert page.evaluate(
            "performance.getEntriesByType('resource').some(e => e.name.includes('spans.js'))"
        )


@pytest.mark.parametrize("tab", ["judge", "</script><script>document.title='x'</script>"])
def test_a_tab_that_the_person_may_not_have_does_not_open(page: Any, server: Running, tab: str) -> None:
    enter(page, server.url, "Ann")
    page.goto(f"{server.url}/?task=demo&tab={tab}")
    settle(page)
    expect(page.get_by_role("tab", selected=True)).to_have_text("Criteria")
    expect(page.locator(".ce-toast")).to_have_count(0)
    assert page.title() == "CoEval"


def test_what_is_named_by_its_content_is_kept_for_a_year(
    page: Any, server: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[Any] = []
    enter(page, server.url, "Owner")
    cookies = {cookie["name"]: cookie["value"] for cookie in page.context.cookies()}
    with httpx.Client(base_url=server.url, cookies=cookies) as client:
        html = client.get("/").text
        for address in [part.partition('"')[0] for part in html.split('href="')[1:]]:
            if "/assets/" in address or "page.css" in address or "bundle/" in address:
                assert "immutable" in client.get(f"/{address}").headers["cache-control"], address
        assert "immutable" not in client.get("/assets/none.js").headers.get("cache-control", "")
        # each page needs one look at the session, and styles are compressed once
        monkeypatch.setattr(
            gradio_gate, "get_member", lambda *asked: looks.append(asked) or get_member(*asked)
        )
        assert client.get("/").status_code == 200 and len(looks) == 1
        for accepted in ("gzip", "br"):
            styles = client.get("/page.css", headers={"accept-encoding": accepted})
            assert styles.headers["content-encoding"] == accepted and ".coeval" in styles.text
            monkeypatch.setattr(brotli_middleware, "Compressor", None)
    assert httpx.get(f"{server.url}/page.css").headers["cache-control"] == "no-store"
