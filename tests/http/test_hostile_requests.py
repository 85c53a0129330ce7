"""What the server gives to whom: headers, origins, cookies, files."""

from __future__ import annotations

import http.client
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from coeval.domain import Study
from coeval.settings import load_settings
from coeval.store import Store
from coeval.ui.run import build_app
from coeval.ui.server.identity import COOKIE
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.study_import import import_study
from tests.conftest import make_study
from tests.support.serving.live_server import LiveServer, start_server
from tests.support.studies.attack_texts import PATHS

PUBLIC = ("/signin", "/healthz", "/ui/css/coeval.css", "/ui/bundle/main.js")
PAGES = ("/", "/admin", "/admin/")
API = (
    "/api/scrutiny/demo/history?instance=1&criterion=2",
    "/api/scrutiny/demo/history?instance=1&criterion=1",
)
FILES = ("/download/demo/export.zip", "/download/demo/scores.csv", "/download/demo/paper-tables.zip")
GRADIO = (
    "/config",
    "/gradio_api/info",
    "/gradio_api/queue/status",
    "/admin/config",
    "/admin/gradio_api/info",
)
CSP = (
    "default-src 'self'",
    "connect-src 'self'",
    "object-src 'none'",
    "base-uri 'self'",
    "form-action 'self'",
)


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Context:
    path: Path = tmp_path_factory.mktemp("http") / "coeval.db"
    made = Context(Store(path), load_settings({}, db=path))
    study: Study = make_study()
    import_study(made, OPERATOR, study)
    return made


@pytest.fixture(scope="module")
def app(context: Context) -> Any:
    return build_app(context)


def visitor(app: Any, name: str = "") -> TestClient:
    """A browser, signed in where a name is given."""
    client = TestClient(app, follow_redirects=False, raise_server_exceptions=False)
    if name:
        assert client.post("/signin", data={"name": name}).status_code == 303
    return client


@pytest.fixture(scope="module")
def owner(app: Any) -> TestClient:
    return visitor(app, "Olu")


@pytest.fixture(scope="module")
def nobody(app: Any) -> TestClient:
    return visitor(app)


# ---- headers ------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("path", [*PUBLIC, *PAGES, *API, *FILES, *GRADIO, "/nothing/here", "/s/demo"])
def test_every_answer_carries_the_headers(path: str, owner: TestClient, nobody: TestClient) -> None:
    for client in (owner, nobody):
        headers = client.get(path).headers
        assert all(part in headers["content-security-policy"] for part in CSP), path
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin"
        assert "camera=()" in headers["permissions-policy"]


# ---- writes from elsewhere ----------------------------------------------------------------------------------


WRITES = (
    "/signin", "/signout", "/signout/everywhere", "/api/scrutiny/demo/submissions", "/api/scrutiny/demo/marks",
    "/api/scrutiny/demo/answers", "/gradio_api/queue/join", "/gradio_api/upload", "/gradio_api/run/0",
    "/admin/gradio_api/queue/join", "/admin/gradio_api/upload", "/admin/gradio_api/call/x", "/login",
)  # fmt: skip
ORIGINS = (
    {"Origin": "https://evil.example"},
    {"Origin": "null"},
    {"Origin": "http://testserver.evil.example"},
    {"Origin": "http://testserver:81"},
    {"Origin": "http://evil.example@testserver.evil.example"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
)


@pytest.mark.slow
@pytest.mark.parametrize("path", WRITES)
def test_a_write_from_another_site_is_refused(path: str, owner: TestClient) -> None:
    for headers in ORIGINS:
        for method in ("POST", "PUT", "DELETE", "PATCH"):
            answer = owner.request(method, path, headers=headers, content=b"{}")
            assert answer.status_code == 403 and "another site" in answer.text, (method, headers)


def test_the_session_cookie_is_for_this_site_and_no_script(app: Any) -> None:
    cookie = visitor(app).post("/signin", data={"name": "Cem"}).headers["set-cookie"]
    assert cookie.startswith(f"{COOKIE}=")
    assert "HttpOnly" in cookie and "SameSite=lax" in cookie and "Path=/" in cookie


def test_a_session_that_was_planted_is_not_taken_over(app: Any) -> None:
    browser = visitor(app)
    browser.cookies.set(COOKIE, "chosen-by-an-attacker")
    browser.post("/signin", data={"name": "Dee"})
    thief = visitor(app)
    thief.cookies.set(COOKIE, "chosen-by-an-attacker")
    assert thief.get("/").headers["location"].endswith("/signin")


def test_a_get_changes_nothing(context: Context, owner: TestClient) -> None:
    for path in WRITES:
        owner.get(path)
    assert owner.get("/").status_code == 200, "signed out by a GET"


# ---- files --------------------------------------------------------------------------------------------------

SECRETS = (b"SQLite format 3", b"root:", b"def main", b"import ")
ROUTES = ("/ui/", "/gradio_api/file=", "/admin/gradio_api/file=", "/download/", "/download/demo/", "/file=", "/file/",
          "/static/", "/assets/", "/gradio_api/file/", "/custom_component/", "/svelte/", "/s/", "/invite/")  # fmt: skip


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    path: Path = tmp_path_factory.mktemp("paths") / "coeval.db"
    server = start_server(path)
    yield server
    server.stop()


def fetch(server: LiveServer, path: str, cookie: str = "") -> tuple[int, bytes]:
    """A GET whose path reaches the server as it is written here."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    connection.putrequest("GET", path.replace("\\", "%5C"), skip_host=False)
    connection.putheader("Cookie", cookie)
    connection.endheaders()
    answer = connection.getresponse()
    found = answer.status, answer.read()
    connection.close()
    return found


def sign_in_live(server: LiveServer, name: str) -> str:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    connection.request(
        "POST", "/signin", f"name={name}", {"Content-Type": "application/x-www-form-urlencoded"}
    )
    answer = connection.getresponse()
    connection.close()
    return str(answer.getheader("set-cookie")).split(";")[0]


@pytest.mark.slow
def test_no_route_gives_a_file_that_is_not_ours_to_give(live: LiveServer) -> None:
    """As an owner: whoever may do most still reads no file of the machine."""
    cookie = sign_in_live(live, "Olu")
    assert fetch(live, "/ui/css/coeval.css")[0] == 200
    tried = [*PATHS, str(live.db), str(live.db).lstrip("/"), f"..{live.db}"]
    for route in ROUTES:
        for path in tried:
            status, body = fetch(live, f"{route}{path}", cookie)
            leaked = [secret for secret in SECRETS if secret in body]
            assert not (status == 200 and leaked), (route, path, leaked)
            assert b"SQLite format 3" not in body


@pytest.mark.slow
def test_one_person_reads_no_file_that_another_uploaded(live: LiveServer) -> None:
    """What an owner imports lies in a folder of Gradio's: who guesses its address may not read it."""
    import httpx

    cookie, other = sign_in_live(live, "Olu"), sign_in_live(live, "Ana")
    base = f"{live.url}/admin/gradio_api"
    files = {"files": ("x.csv", b"input,output\nsecret-of-the-owner,1\n")}
    sent = httpx.post(f"{base}/upload", files=files, headers={"cookie": cookie})
    assert sent.status_code == 200
    path = sent.json()[0]
    for way in ("/admin/gradio_api/file=", "/gradio_api/file="):
        for who in ("", other):
            status, body = fetch(live, f"{way}{path}", who)
            assert b"secret-of-the-owner" not in body, (way, "annotator" if who else "nobody", status)


def test_a_page_is_light_and_its_scripts_are_asked_for_once(app: Any) -> None:
    """One bundle in the place of sixty modules, under an address that changes with its content."""
    with TestClient(app, base_url="http://127.0.0.1") as client:
        page = client.get("/s/demo", headers={"Accept-Encoding": "gzip"})
        script = client.get("/ui/bundle/main.js", headers={"Accept-Encoding": "gzip"})
    assert "no-store" in page.headers["Cache-Control"]
    assert script.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert script.headers["Content-Encoding"] == "gzip" and len(script.content) > 100_000
