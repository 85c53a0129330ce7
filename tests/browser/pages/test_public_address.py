"""The public address of COEVAL_URL behind a proxy that ends TLS: its own forms are taken, those of others are not."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.support.serving.live_server import free_port
from tests.support.serving.server import Running, new_context

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

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
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The public address; as behind a proxy, the app is told of plain HTTP where the browser speaks TLS."""
    folder, port = tmp_path_factory.mktemp("public"), free_port()
    public = f"https://{NAME}:{port}"
    server = Running(new_context(folder, demo=True, COEVAL_URL=public), port=port)
    app, config = server.app, server.server.config

    async def behind(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            scope = {**scope, "scheme": "http"}
        await app(scope, receive, send)

    config.app = behind
    config.ssl_certfile = config.ssl_keyfile = write_certificate(folder)
    with server:
        yield public


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(ignore_https_errors=True)
    context.set_default_timeout(20_000)
    yield context.new_page()
    context.close()


def test_a_form_of_the_page_at_the_public_address_is_taken(page: Page, url: str) -> None:
    page.goto(f"{url}/signin")
    page.get_by_label("Your name").fill("Olu")
    with page.expect_request(lambda request: request.method == "POST") as posted:
        page.get_by_role("button", name="Sign in").click()
    page.locator("#me").get_by_text("Olu").wait_for()
    assert posted.value.all_headers()["origin"] == url
    cookies = {cookie["name"]: cookie["secure"] for cookie in page.context.cookies()}
    assert cookies and all(name.startswith("__Host-") and secure for name, secure in cookies.items())


@pytest.mark.parametrize("other", ["https://evil.localhost", f"https://{NAME}"])
def test_a_form_of_another_origin_is_refused(page: Page, url: str, other: str) -> None:
    """Also of the same name on another port, which is another site's."""
    form = f'<form method="post" action="{url}/signin"><input name="name" value="Eve"><button>Win</button></form>'
    page.route(f"{other}/", lambda route: route.fulfill(body=form, content_type="text/html"))
    page.goto(f"{other}/")
    with page.expect_response(lambda answer: answer.request.method == "POST") as refused:
        page.get_by_role("button", name="Win").click()
    assert refused.value.request.all_headers()["origin"] == other
    assert refused.value.status == 403
    page.get_by_text("This request came from another site").wait_for()
    assert not page.context.cookies()
