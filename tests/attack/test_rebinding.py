"""Another site's page that gives its own name our address (DNS rebinding), or asks from where it stands."""

from __future__ import annotations

from dataclasses import replace

import pytest
from starlette.datastructures import Headers

from coeval.ui.server.guard import is_our_name, is_same_origin
from coeval.usecases.access import Context
from tests.attack.conftest import Visit

STRANGE = (
    "evil.example", "evil.example:7860", "localhost.evil.example", "127.0.0.1.nip.io", "testserver.evil.example",
    "localhost.", "0.0.0.0", "[::ffff:127.0.0.1]", "127.1", "2130706433", "evil@testserver", "", "[", "192.168.1.7",
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("host", STRANGE)
def test_a_name_that_is_not_ours_gets_nothing(host: str, visit: Visit) -> None:
    browser = visit("Olu")
    for method, path in (
        ("GET", "/"),
        ("GET", "/signin"),
        ("POST", "/signin"),
        ("GET", "/download/demo/export.zip"),
    ):
        answer = browser.request(
            method, path, headers={"Host": host}, data={"name": "Eve"} if method == "POST" else None
        )
        assert answer.status_code in (400, 421), (path, answer.status_code)
        assert "set-cookie" not in answer.headers


def test_loopback_and_the_public_address_are_ours(context: Context) -> None:
    settings = replace(context.settings, public_url="https://study.example.org", host="0.0.0.0")
    scope = {"type": "http", "server": ("10.1.2.3", 7860)}
    for host in ("localhost:7860", "127.0.0.1", "[::1]:7860", "study.example.org", "10.1.2.3:7860"):
        assert is_our_name(settings, scope, Headers({"host": host})), host
    for host in ("0.0.0.0", "example.org", "study.example.org.evil.example", "10.1.2.4"):
        assert not is_our_name(settings, scope, Headers({"host": host})), host


def test_two_names_are_none(context: Context) -> None:
    two = Headers(raw=[(b"host", b"localhost"), (b"host", b"evil.example")])
    assert not is_our_name(context.settings, {"type": "http", "server": ("127.0.0.1", 1)}, two)


def test_an_origin_has_the_scheme_too(visit: Visit, context: Context) -> None:
    browser = visit("Olu")
    assert browser.post("/signout", headers={"Origin": "https://testserver"}).status_code == 403
    settings = replace(context.settings, public_url="https://study.example.org")
    for origin, ours in (("https://study.example.org", True), ("http://study.example.org", False)):
        sent = Headers({"host": "study.example.org", "origin": origin})
        assert is_same_origin(settings, "http", sent) is ours


@pytest.mark.parametrize(
    "path",
    [
        "/api/scrutiny/demo/history?instance=1&criterion=1",
        "/gradio_api/queue/data?session_hash=a",
        "/download/demo/export.zip",
        "/download/demo/study.zip?people=names",
        "/download/demo/judge/judge.json",
        "/s/demo/participants.csv",
        "/s/demo/prolific.csv",
    ],
)
def test_another_site_gets_nothing_by_a_get_either(path: str, visit: Visit) -> None:
    for site in ("cross-site", "same-site"):
        assert visit("Olu").get(path, headers={"Sec-Fetch-Site": site}).status_code == 403
    assert visit("Olu").get(path, headers={"Origin": "https://evil.example"}).status_code == 403
    own = {"Sec-Fetch-Site": "same-origin", "Origin": "http://testserver"}
    assert visit("Olu").get(path, headers=own).status_code != 403


def test_a_get_draws_no_queue(visit: Visit, context: Context) -> None:
    browser = visit("Fay")
    for path in ("/api/scrutiny/demo/step", "/", "/s/", "/s/demo"):
        browser.get(path)
    with context.store.read() as db:
        (queues,) = db.conn.execute(
            "SELECT count(*) FROM assignment a JOIN annotator p ON p.id = a.annotator WHERE p.name = 'Fay'"
        ).fetchone()
    assert queues == 0


def test_two_session_cookies_are_none(visit: Visit) -> None:
    token = visit("Gil").cookies["coeval_session"]
    sent = {"Cookie": f"coeval_session=planted; coeval_session={token}"}
    assert visit().get("/", headers=sent).status_code == 400


def test_what_is_somebody_s_own_is_kept_by_no_cache(visit: Visit) -> None:
    browser = visit("Olu")
    for path in ("/", "/signin", "/download/demo/scores.csv", "/config", "/admin/", "/nothing"):
        assert browser.get(path).headers["cache-control"] == "no-store", path
    assert "no-store" not in browser.get("/ui/css/coeval.css").headers.get("cache-control", "")
