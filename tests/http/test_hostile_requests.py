"""What the server gives to whom: headers, origins, cookies, files, and who may reach which endpoint."""

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
from coeval.ui.components.theme import HEAD
from coeval.ui.run import build_app
from coeval.ui.server.identity import COOKIE
from coeval.ui.server.scripts import VERSION
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
MOUNTS = ("", "/admin")
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
def annotator(app: Any, owner: TestClient) -> TestClient:
    return visitor(app, "Ana")


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


def test_no_page_of_a_stranger_may_read_ours(owner: TestClient) -> None:
    answer = owner.post("/api/scrutiny/demo/step", headers={"Origin": "https://evil.example"})
    allowed = answer.headers.get("access-control-allow-origin", "")
    assert allowed not in ("*", "https://evil.example")


# ---- writes from elsewhere ----------------------------------------------------------------------------------

WRITES = (
    "/signin", "/signout", "/signout/everywhere", "/api/scrutiny/demo/submissions", "/api/scrutiny/demo/marks",
    "/api/scrutiny/demo/suggestions", "/gradio_api/queue/join", "/gradio_api/upload", "/gradio_api/run/0",
    "/admin/gradio_api/queue/join", "/admin/gradio_api/upload", "/admin/gradio_api/call/x", "/login",
)  # fmt: skip
ELSEWHERE = (
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
    for headers in ELSEWHERE:
        for method in ("POST", "PUT", "DELETE", "PATCH"):
            answer = owner.request(method, path, headers=headers, content=b"{}")
            assert answer.status_code == 403 and "another site" in answer.text, (method, headers)


def test_a_write_from_here_is_not(owner: TestClient) -> None:
    step = owner.post("/api/scrutiny/demo/step").json()
    body = {"instance": step["instance"]["id"], "flagged": True}
    for headers in ({"Origin": "http://testserver"}, {"Sec-Fetch-Site": "same-origin"}, {}):
        assert owner.post("/api/scrutiny/demo/marks", json=body, headers=headers).status_code == 200


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


# ---- who may reach what -------------------------------------------------------------------------------------


def blocks_of(client: TestClient, mount: str) -> dict[str, Any]:
    found = client.get(f"{mount}/config")
    assert found.status_code == 200
    return dict(found.json())


def endpoints(config: dict[str, Any]) -> list[tuple[str, int]]:
    """Every way by which an event can be called: its number, and its name where it has one."""
    return [(one["api_name"] or str(one["id"]), one["id"]) for one in config["dependencies"]]


def knocks(mount: str, config: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, number in endpoints(config):
        body = {"data": [], "fn_index": number, "session_hash": "abc", "event_id": "x"}
        for part in (f"run/{name}", f"api/{name}", f"call/{name}", f"call/v2/{name}"):
            yield f"{mount}/gradio_api/{part}", body
        yield f"{mount}/gradio_api/queue/join", body
        yield f"{mount}/gradio_api/run/predict", body


@pytest.mark.slow
@pytest.mark.parametrize("mount", MOUNTS)
def test_nobody_calls_an_event_unless_signed_in(mount: str, owner: TestClient, nobody: TestClient) -> None:
    config = blocks_of(owner, mount)
    assert len(endpoints(config)) > 5
    for path, body in knocks(mount, config):
        assert nobody.post(path, json=body).status_code in (401, 404, 405), path
    for path in ("/config", "/gradio_api/info", "/gradio_api/queue/data?session_hash=abc"):
        assert nobody.get(f"{mount}{path}").status_code in (401, 404), path


@pytest.mark.slow
def test_an_annotator_calls_no_event_of_set_up(owner: TestClient, annotator: TestClient) -> None:
    assert annotator.get("/admin/").status_code == 303
    for path, body in knocks("/admin", blocks_of(owner, "/admin")):
        assert annotator.post(path, json=body).status_code in (401, 403, 404, 405), path
    for path in ("/config", "/gradio_api/queue/data?session_hash=abc"):
        assert annotator.get(f"/admin{path}").status_code == 401, path
    upload = {"files": ("x.csv", b"input,output\n1,2\n")}
    assert annotator.post("/admin/gradio_api/upload", files=upload).status_code == 401


def test_events_refuse_an_annotator_in_their_use_case(
    app: Any, owner: TestClient, annotator: TestClient
) -> None:
    """The study app's own mount holds owners' events as well: each asks for the role itself."""
    config = blocks_of(owner, "")
    named = {one["id"]: one for one in config["dependencies"]}
    buttons = {
        one["id"] for one in config["components"] if one["props"].get("elem_id") in ("open-vote", "reopen")
    }
    ids = [n for n, one in named.items() if any(target[0] in buttons for target in one["targets"])]
    assert len(ids) == 2
    for number in ids:
        data = ["demo", None, "A new criterion.", [], [], None]
        assert len(named[number]["inputs"]) == len(data)
        body = {"data": data, "fn_index": number, "session_hash": f"s{number}"}
        assert annotator.post("/gradio_api/run/predict", json=body).status_code >= 400


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
        theme = client.get("/theme.css?v=1")
    assert "no-store" in page.headers["Cache-Control"]
    assert script.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert theme.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert script.headers["Content-Encoding"] == "gzip" and len(script.content) > 100_000
    assert f"bundle/main.js?v={VERSION}" in HEAD.format(static="ui/", version=VERSION)
