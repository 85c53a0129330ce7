"""What the attacks share: a study on a server in this process, and browsers that are signed in or not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from coeval.settings import load_settings
from coeval.store import Store
from coeval.ui.run import build_app
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.study_import import import_study
from tests.conftest import make_study

Visit = Callable[..., TestClient]


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Context:
    path: Path = tmp_path_factory.mktemp("attack") / "coeval.db"
    context = Context(Store(path), load_settings({}, db=path))
    import_study(context, OPERATOR, make_study())
    return context


@pytest.fixture(scope="module")
def app(context: Context) -> Any:
    return build_app(context)


@pytest.fixture(scope="module")
def visit(app: Any) -> Visit:
    """A browser; signed in where a name is given. The first to sign in owns the study: that is Olu."""

    def open_browser(name: str = "", base_url: str = "http://testserver") -> TestClient:
        client = TestClient(app, base_url=base_url, follow_redirects=False, raise_server_exceptions=False)
        if name:
            assert client.post("/signin", data={"name": name}).status_code == 303
        return client

    open_browser("Olu")
    return open_browser
