"""Locking people out: by wrong passwords for their name, from their address, or by keeping every thread busy."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from argon2.exceptions import VerificationError
from uvicorn._types import ASGI3Application
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from coeval.domain import Role
from coeval.settings import SignIn, load_settings
from coeval.store import Store
from coeval.usecases import accounts
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.accounts import accept_invitation, invite
from coeval.usecases.study_import import import_study
from tests.conftest import make_study
from tests.support.serving.server import Running

PASSWORD = "correct horse battery"
FLOOD = 50
"""More than there are threads for everything else, which are 40."""


@pytest.fixture
def hosted(tmp_path: Path) -> Context:
    path = tmp_path / "coeval.db"
    context = Context(Store(path), replace(load_settings({}, db=path), sign_in=SignIn.ACCOUNTS))
    import_study(context, OPERATOR, make_study())
    accept_invitation(context, invite(context, OPERATOR, Role.OWNER), "Ana", PASSWORD)
    return context


@pytest.fixture
def server(hosted: Context) -> Iterator[Running]:
    with Running(hosted) as running:
        yield running


@pytest.mark.slow
def test_a_flood_of_sign_ins_holds_up_nobody_s_work(server: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    """With every check of a password standing still, steps are answered as ever."""
    go_on, begun = threading.Event(), threading.Event()
    verify = accounts.HASHER.verify

    class Standing:
        hash = accounts.HASHER.hash
        check_needs_rehash = accounts.HASHER.check_needs_rehash

        def verify(self, secret: str, password: str) -> bool:
            begun.set()
            if password.startswith("wrong"):
                assert go_on.wait(60)
                raise VerificationError
            return verify(secret, password)

    with server.browser() as browser:
        assert browser.post("/signin", data={"name": "Ana", "password": PASSWORD}).status_code == 303
        monkeypatch.setattr(accounts, "HASHER", Standing())
        monkeypatch.setattr(accounts, "LONGEST_PAUSE", dict.fromkeys(accounts.LONGEST_PAUSE, 0.0))
        begun.clear()
        with ThreadPoolExecutor(FLOOD) as strangers:
            form = {"password": "wrong password"}
            sent = [
                strangers.submit(
                    httpx.post, f"{server.url}/signin", data=form | {"name": f"n{n}"}, timeout=60
                )
                for n in range(FLOOD)
            ]
            try:
                assert begun.wait(30)
                time.sleep(1)
                assert browser.post("/api/scrutiny/demo/step", timeout=15).status_code == 200
                assert browser.get("/healthz", timeout=15).status_code == 200
            finally:
                go_on.set()
            assert {one.result().status_code for one in sent} == {422}


def test_a_known_browser_guesses_no_faster_than_others(
    hosted: Context, server: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(accounts, "LONGEST_PAUSE", dict.fromkeys(accounts.LONGEST_PAUSE, 0.05))
    with server.browser() as browser:
        assert browser.post("/signin", data={"name": "Ana", "password": PASSWORD}).status_code == 303
        mark = browser.cookies["coeval_known"]
        for n in range(7):
            answer = browser.post("/signin", data={"name": "Ana", "password": f"wrong password {n}"})
        assert "Too many tries" in answer.text
        assert accounts.get_pause(hosted, "Ana", "127.0.0.1", mark) > 0
        assert accounts.get_pause(hosted, "Ana", "127.0.0.1") == 0, "its tries slow down nobody else"
    assert accounts.is_known_browser(hosted, "Ana", mark)
    assert not accounts.is_known_browser(hosted, "Bo", mark)
    for forged in ("", ".", "a.b", mark[:-1], f"x{mark}"):
        assert not accounts.is_known_browser(hosted, "Ana", forged)
    accept_invitation(hosted, invite(hosted, OPERATOR, Role.OWNER, name="Ana"), "Ana", f"{PASSWORD}2")
    assert not accounts.is_known_browser(hosted, "Ana", mark), "a new password ends it"


@pytest.mark.parametrize(
    ("environment", "said", "address"),
    [
        ({}, "203.0.113.9", "203.0.113.9"),
        ({}, "198.51.100.1, 203.0.113.9", "203.0.113.9"),
        ({"COEVAL_PROXIES": "10.0.0.0/8"}, "203.0.113.9", "127.0.0.1"),
        ({"COEVAL_PROXIES": "127.0.0.1, 203.0.113.0/24"}, "198.51.100.1, 203.0.113.9", "198.51.100.1"),
    ],
)
def test_an_address_is_what_trusted_proxies_say_and_nobody_else(
    environment: dict[str, str], said: str, address: str
) -> None:
    """The nearest that no trusted proxy stands at: what a visitor writes before it is not believed."""
    import asyncio

    proxies = list(load_settings(environment).proxies)
    seen: list[str] = []

    async def note(scope: dict, receive: object, send: object) -> None:  # type: ignore[type-arg]
        seen.append(scope["client"][0])

    app: ASGI3Application = note  # type: ignore[assignment]
    scope = {
        "type": "http",
        "client": ("127.0.0.1", 1),
        "scheme": "http",
        "headers": [(b"x-forwarded-for", said.encode())],
    }
    asyncio.run(ProxyHeadersMiddleware(app, proxies)(scope, None, None))  # type: ignore[arg-type]
    assert seen == [address]
