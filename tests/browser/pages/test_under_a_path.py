"""The app under a path of somebody else's address: sign-in, tabs, Set-up and help stay under it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from coeval.usecases.access import Context
from tests.support.serving.server import Running, new_context

PREFIX = "/lab/coeval"


class Mounted(Running):
    """Served as behind a proxy that passes on whole paths and says by ``root_path`` which part is its own."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        app = self.app

        async def behind(scope: Any, receive: Any, send: Any) -> None:
            if scope["type"] == "http":
                assert scope["path"].startswith(PREFIX), f"{scope['path']} is outside of {PREFIX}"
                scope = {**scope, "root_path": PREFIX}
            await app(scope, receive, send)

        self.server.config.app = behind


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with Mounted(new_context(tmp_path_factory.mktemp("path"), demo=True)) as running:
        yield running


def test_everything_stays_under_the_path(page: Any, server: Running) -> None:
    strays: list[str] = []
    page.on("request", lambda request: strays.append(request.url) if PREFIX not in request.url else None)
    page.goto(f"{server.url}{PREFIX}/")
    page.get_by_label("Your name").fill("Olu")
    page.get_by_role("button", name="Sign in").click()
    page.locator("#me").get_by_text("Olu").wait_for()
    page.get_by_role("link", name="example studies").click()
    page.get_by_role("tab", name="Scrutiny").click()
    page.locator(".wb[data-state=step][aria-busy=false] .rt-row").first.wait_for()
    page.get_by_role("link", name="Set-up").click()
    page.locator("#task-state").get_by_text("instances imported").wait_for()
    page.goto(f"{server.url}{PREFIX}/help/guide")
    page.get_by_role("heading").first.wait_for()
    assert not [url for url in strays if url.startswith(server.url)]
