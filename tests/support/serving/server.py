"""The real server on a port of its own, for tests over HTTP."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

import httpx
import uvicorn
from fastapi import FastAPI

from coeval.settings import load_settings
from coeval.store import Store
from coeval.ui.run import build_app
from coeval.usecases.access import Context
from coeval.usecases.study_import import ensure_demo


def new_context(folder: Path, *, demo: bool = False, **env: str) -> Context:
    """A new file, with the demo in it or without, and the settings that the environment variables make."""
    path = folder / "coeval.db"
    context = Context(Store(path), load_settings(env, db=path))
    if demo:
        ensure_demo(context)
    return context


class Running:
    """``with Running(context) as server``: serves until the block ends; ``add`` gives the app further routes."""

    def __init__(
        self,
        context: Context,
        add: Callable[[FastAPI, Context], None] | None = None,
        port: int = 0,
    ) -> None:
        self.app = build_app(context)
        if add:
            add(self.app, context)
        # a browser that is still there keeps its connections: what is under way has a second to end
        config = uvicorn.Config(self.app, port=port, log_level="critical", timeout_graceful_shutdown=1)
        self.server = uvicorn.Server(config)
        self.thread = threading.Thread(target=self.server.run, daemon=True)

    def __enter__(self) -> Running:
        self.thread.start()
        while not self.server.started:
            time.sleep(0.01)
        self.url = f"http://127.0.0.1:{self.server.servers[0].sockets[0].getsockname()[1]}"
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        self.server.should_exit = True
        self.thread.join(10)

    def browser(self) -> httpx.Client:
        """A client that keeps cookies, as one person's browser does."""
        # without TLS there is nothing to verify, and to load the certificates would take longer than the requests
        return httpx.Client(base_url=self.url, timeout=30, verify=False)
