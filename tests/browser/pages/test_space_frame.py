"""A Space inside the Hub's page: the sign-in opens a page of its own, and the frame goes on afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from coeval.settings import OAuth, SignIn
from coeval.usecases.access import Context
from tests.support.hosting.oauth_provider import Provider
from tests.support.serving.live_server import free_port
from tests.support.serving.server import Running, new_context

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

SANDBOX = (
    "allow-scripts allow-same-origin allow-forms allow-popups allow-popups-to-escape-sandbox allow-downloads"
)
"""What the Hub allows its frames: no navigation of the page around them."""


NAME = "study.localhost"
"""A name that browsers look for on this machine (RFC 6761, 6.3)."""


def write_certificate(folder: Path) -> Path:
    """A new key and its certificate for ``NAME``, signed by itself, in one file."""
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, NAME)])
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    form = serialization.Encoding.PEM
    plain = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    path = folder / "both.pem"
    path.write_bytes(key.private_bytes(form, *plain) + certificate.public_bytes(form))
    return path


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    with Provider().serve() as provider:
        yield provider


@pytest.fixture(scope="module")
def space(tmp_path_factory: pytest.TempPathFactory, provider: Provider) -> Iterator[str]:
    port, folder = free_port(), tmp_path_factory.mktemp("space")
    public = f"https://{NAME}:{port}"
    new = new_context(folder, demo=True)
    settings = replace(
        new.settings, sign_in=SignIn.HUGGINGFACE, owner="julia-m", space="julia-m/study", public_url=public,
        oauth=OAuth(provider.url, "client", "secret"),
    )  # fmt: skip
    server = Running(Context(new.store, settings), port=port)
    config = server.server.config
    config.ssl_certfile = config.ssl_keyfile = str(write_certificate(folder))
    with server:
        yield public


@pytest.fixture
def hub(browser: Browser, space: str) -> Iterator[Page]:
    # the page comes from another name, and the Space is on this machine
    context = browser.new_context(ignore_https_errors=True, permissions=["local-network-access"])
    page = context.new_page()
    frame = f'<iframe sandbox="{SANDBOX}" src="{space}/" style="width:100%;height:800px"></iframe>'
    page.route("https://huggingface.co/**", lambda route: route.fulfill(content_type="text/html", body=frame))
    page.goto("https://huggingface.co/spaces/julia-m/study")
    yield page
    context.close()


UNCOVERED = """element => {
  const { left, right, top, bottom } = element.getBoundingClientRect()
  return [[left + 12, top + 12], [right - 12, bottom - 12]].every(
    ([x, y]) => element.contains(document.elementFromPoint(x, y)))
}"""
"""True if both ends of an element are on the screen, with nothing over them."""


def test_the_sign_in_opens_a_page_where_the_warning_covers_nothing_and_the_frame_goes_on(hub: Page) -> None:
    frame = hub.frame_locator("iframe")
    assert (
        "A restart of this Space deletes everything" in frame.locator(".error[role=alert]").first.inner_text()
    )
    with hub.context.expect_page() as opened:
        frame.get_by_role("link", name="Sign in with Hugging Face").click()
    owner = opened.value
    owner.locator("#me").get_by_text("julia-m").wait_for()
    frame.locator("#me").get_by_text("julia-m").wait_for()
    assert "deletes everything" in owner.locator("#alert").inner_text()
    for place, first in (("Study", "demo"), ("Set-up", "Save task")):
        owner.locator("#me").get_by_role("link", name=place).click()
        owner.locator("#tabs").get_by_text(first).first.wait_for()
        for size in ((1440, 900), (390, 844)):
            owner.set_viewport_size({"width": size[0], "height": size[1]})
            for seen in ("#alert .alert", "#top-bar", "#tabs :is([role=tab][aria-selected=true], h1)"):
                element = owner.locator(seen).filter(visible=True).first
                owner.wait_for_function(UNCOVERED, arg=element.element_handle())
        owner.set_viewport_size({"width": 1440, "height": 900})


def test_a_frame_without_cookies_says_where_to_go_on(hub: Page) -> None:
    frame = hub.frame_locator("iframe")
    with hub.context.expect_page() as opened:
        frame.get_by_role("link", name="Sign in with Hugging Face").click()
        # as a browser that keeps a frame's cookies apart
        hub.route(f"https://{NAME}*/**/signin", lambda route: route.fulfill(status=200, body="signed out"))
    opened.value.locator("#me").get_by_text("julia-m").wait_for()
    frame.get_by_text("go on there").wait_for()
    assert (
        frame.get_by_role("link", name="Open CoEval in a separate page").get_attribute("target")
    ) == "_blank"


def test_a_stranger_is_told_to_wait_for_a_role(hub: Page, provider: Provider) -> None:
    provider.profile = {"sub": "77", "preferred_username": "first-come"}
    with hub.context.expect_page() as opened:
        hub.frame_locator("iframe").get_by_role("link", name="Sign in with Hugging Face").click()
    opened.value.get_by_text("signed in as “first-come”, and have no role here yet").wait_for()
