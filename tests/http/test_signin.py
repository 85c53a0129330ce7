"""Coming in over HTTP: accounts, invitations, Hugging Face by a local stand-in, cookies, and sign-out."""

from __future__ import annotations

import html
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import httpx2
import pytest
from starlette.testclient import TestClient

from coeval.domain import Role
from coeval.settings import OAuth, SignIn, load_settings
from coeval.store import Store
from coeval.ui.run import build_app
from coeval.ui.server.identity import COOKIE
from coeval.ui.server.signin import TICKET
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.accounts import invite
from coeval.usecases.sessions import sign_in
from tests.support.hosting.oauth_provider import Provider

PASSWORD = "correct horse battery"
HOST = "https://team-study.hf.space"


@pytest.fixture(scope="module")
def accounts_context(tmp_path_factory: pytest.TempPathFactory) -> Context:
    path = tmp_path_factory.mktemp("accounts") / "coeval.db"
    return Context(Store(path), load_settings({"COEVAL_SIGN_IN": "accounts"}, db=path))


@pytest.fixture(scope="module")
def accounts_app(accounts_context: Context) -> object:
    return build_app(accounts_context)


@pytest.fixture
def browser(accounts_app: object) -> TestClient:
    return TestClient(accounts_app, follow_redirects=False)  # type: ignore[arg-type]


def accept(browser: TestClient, context: Context, name: str, role: Role = Role.ANNOTATOR) -> httpx.Response:
    token = invite(context, OPERATOR, role)
    form = {"name": name, "password": PASSWORD}
    return browser.post(f"/invite/{token}", data=form)  # type: ignore[return-value]


def test_passwords_sign_in_and_wrong_ones_do_not(browser: TestClient, accounts_context: Context) -> None:
    accept(browser, accounts_context, "Bea")
    browser.cookies.clear()
    wrong = browser.post("/signin", data={"name": "Bea", "password": "not this one"})
    assert wrong.status_code == 422 and "name or the password is wrong" in wrong.text
    assert COOKIE not in browser.cookies and "not this one" not in wrong.text
    right = browser.post("/signin", data={"name": "Bea", "password": PASSWORD})
    cookie = right.headers["set-cookie"]
    assert right.status_code == 303 and "HttpOnly" in cookie and "SameSite=lax" in cookie
    assert browser.get("/").status_code == 200
    assert browser.get("/admin/").status_code == 303  # an annotator


def test_an_owner_by_a_link_begins_with_import_as_by_name(
    browser: TestClient, accounts_context: Context
) -> None:
    token = invite(accounts_context, OPERATOR, Role.OWNER)
    assert "The command line invites you as an owner." in browser.get(f"/invite/{token}").text
    assert accept(browser, accounts_context, "Gus", Role.OWNER).headers["location"] == "../admin/?tab=import"
    assert accept(browser, accounts_context, "Hal").headers["location"] == "../"


@pytest.mark.parametrize(
    "place",
    ["?task=eli5&tab=scrutiny&item=q+1%2F2", "?task=eli5&at=3", "admin/?task=eli5&tab=review", "s/eli5"],
)
def test_a_link_to_a_place_outlives_the_sign_in(
    browser: TestClient, accounts_context: Context, place: str
) -> None:
    accept(browser, accounts_context, "Eva")
    browser.cookies.clear()
    if not place.startswith("s/"):
        away = browser.get(f"/{place}").headers["location"]
        assert parse_qs(urlsplit(away).query)["next"] == [place]
        assert html.escape(place) in browser.get(away).text
    form = {"name": "Eva", "password": PASSWORD, "next": place}
    assert browser.post("/signin", data=form).headers["location"] == f"./{place}"


@pytest.mark.parametrize(
    "next",
    [
        "//evil.example",
        "https://evil.example",
        "s/../admin",
        "/s/x",
        "s/x?y=//z",
        "//evil.example?task=a",
        "?x=y",
    ],
)
def test_a_sign_in_leads_nowhere_else(browser: TestClient, accounts_context: Context, next: str) -> None:
    accept(browser, accounts_context, f"Dan {next}"[:40])
    form = {"name": f"Dan {next}"[:40], "password": PASSWORD, "next": next}
    browser.cookies.clear()
    assert browser.post("/signin", data=form).headers["location"] == "./"


# ---- Hugging Face, by a stand-in ---------------------------------------------------------------------------


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Provider:
    """The stand-in, reached by every request our side makes."""
    found = Provider()
    client = TestClient(found.app, base_url=found.url, follow_redirects=False)

    def send(transport: httpx2.HTTPTransport, request: httpx2.Request) -> httpx2.Response:
        request.read()
        answer = client.request(
            request.method, str(request.url), content=request.content, headers=dict(request.headers)
        )
        return httpx2.Response(answer.status_code, content=answer.content)

    monkeypatch.setattr(httpx2.HTTPTransport, "handle_request", send)
    return found


@pytest.fixture(scope="module")
def space_app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[object]:
    path: Path = tmp_path_factory.mktemp("space") / "coeval.db"
    base = load_settings({}, db=path)
    settings = replace(
        base,
        sign_in=SignIn.HUGGINGFACE,
        owner="Julia-M",
        public_url=HOST,
        oauth=OAuth(Provider.url, "client", "secret"),
    )
    yield build_app(Context(Store(path), settings))


@pytest.fixture
def space(space_app: object) -> TestClient:
    return TestClient(space_app, base_url=HOST, follow_redirects=False)  # type: ignore[arg-type]


def go_through(space: TestClient, provider: Provider, next: str = "") -> httpx.Response:
    """What a browser does: to the provider and back."""
    away = space.get("/login/huggingface", params={"next": next} if next else {})
    there = TestClient(provider.app, base_url=provider.url, follow_redirects=False)
    back = there.get(away.headers["location"])
    return space.get(back.headers["location"])  # type: ignore[return-value]


@pytest.mark.slow
def test_the_owner_signs_in_by_hugging_face(space: TestClient, provider: Provider) -> None:
    answer = go_through(space, provider)
    assert answer.status_code == 303 and answer.headers["location"] == "../admin/?tab=import"
    session = next(c for c in answer.headers.get_list("set-cookie") if c.startswith(f"__Host-{COOKIE}="))
    # inside huggingface.co's page only such a cookie comes back
    assert "SameSite=none" in session and "Secure" in session and "HttpOnly" in session
    assert TICKET not in space.cookies
    assert space.get("/admin/").status_code == 200


def test_a_stranger_gets_no_further_than_the_studies(space: TestClient, provider: Provider) -> None:
    provider.profile = {"sub": "77", "preferred_username": "first-come"}
    assert go_through(space, provider, "s/demo").headers["location"] == "../s/demo"
    assert go_through(space, provider).status_code == 303
    for path in ("/", "/admin/"):
        assert space.get(path).headers["location"].endswith("/s/")
    assert space.get("/config").status_code == 401
    assert "signed in as “first-come”, and have no role here yet" in space.get("/s/").text


def test_the_challenge_is_s256_and_the_state_is_long(space: TestClient, provider: Provider) -> None:
    query = parse_qs(urlsplit(space.get("/login/huggingface").headers["location"]).query)
    assert query["code_challenge_method"] == ["S256"] and len(query["state"][0]) >= 32
    assert query["redirect_uri"] == [f"{HOST}/login/callback"] and query["scope"] == ["openid profile"]


def test_a_code_for_another_browser_is_refused(space: TestClient, provider: Provider) -> None:
    """An attacker's code and state, put into a victim's browser, sign nobody in (login CSRF)."""
    away = space.get("/login/huggingface")
    there = TestClient(provider.app, base_url=provider.url, follow_redirects=False)
    back = there.get(away.headers["location"]).headers["location"]
    victim = TestClient(space.app, base_url=HOST, follow_redirects=False)
    for setup in (lambda: None, lambda: victim.get("/login/huggingface")):
        setup()
        answer = victim.get(back)
        assert answer.status_code == 422 and "another browser" in answer.text and COOKIE not in victim.cookies
    # and the same code twice signs in once
    assert space.get(back).status_code == 303
    assert space.get(back).status_code == 422


def test_a_provider_in_trouble_signs_nobody_in(
    space: TestClient, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider.profile = {"sub": "", "preferred_username": "x"}
    assert go_through(space, provider).status_code == 422

    def fails(*args: object, **options: object) -> httpx2.Response:
        raise httpx2.ConnectError("down")

    monkeypatch.setattr(httpx2.HTTPTransport, "handle_request", fails)
    answer = space.get("/login/huggingface")
    assert answer.status_code == 422 and "sign in again" in answer.text and COOKIE not in space.cookies


@pytest.mark.slow
def test_by_name_as_before(tmp_path: Path) -> None:
    path = tmp_path / "coeval.db"
    context = Context(Store(path), load_settings({}, db=path))
    sign_in(context, "Olu")
    browser = TestClient(build_app(context), follow_redirects=False)
    assert browser.get("/").headers["location"].endswith("/signin")
    # an owner without a study begins with Import
    assert browser.post("/signin", data={"name": "Olu"}).headers["location"] == "./admin/?tab=import"
    assert browser.post("/signin", data={"name": "Ana"}).headers["location"] == "./"
    assert browser.get("/").status_code == 200
    assert "Set-up" not in browser.get("/signin").text
    browser.post("/signout")
    assert browser.get("/").status_code == 303
