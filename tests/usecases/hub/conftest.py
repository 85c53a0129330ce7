"""A stand-in of the Hub, and a context whose settings name it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace

import pytest
from huggingface_hub.utils import _http

from coeval.settings import Snapshots
from coeval.usecases.access import Context
from tests.support.hosting.hub_stub import HubStub


@pytest.fixture(scope="module")
def running() -> Iterator[HubStub]:
    stub = HubStub()
    stub.start()
    yield stub
    stub.stop()


@pytest.fixture
def hub(running: HubStub, monkeypatch: pytest.MonkeyPatch) -> HubStub:
    """The stand-in, empty again; what huggingface_hub waits between two tries is left out."""
    monkeypatch.setattr(_http, "time", SimpleNamespace(sleep=lambda seconds: None, time=time.time))
    running.files.clear(), running.commits.clear()
    running.large.clear(), running.heard.clear()
    running.exists = running.private = False
    running.at = ""
    running.trouble, running.fails, running.struck = "", lambda: True, 0
    return running


@pytest.fixture
def context(context: Context, hub: HubStub) -> Context:
    snapshots = Snapshots(token=hub.token, endpoint=hub.url)
    return replace(context, settings=replace(context.settings, snapshots=snapshots))
