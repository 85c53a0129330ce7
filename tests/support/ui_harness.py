"""A small server for tests of the browser side: the static files, two pages, and the fake study's routes."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from tests.support.ui_study import FakeStudy

STATIC = Path(__file__).resolve().parents[2] / "coeval" / "ui" / "static"
PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="../static/css/coeval.css"><link rel="stylesheet" href="../page.css">
<script type="module" src="../static/core/main.js"></script><script type="module" src="../{script}.js"></script>
<body><h1 class="ce-sr">{title}</h1><main id="place"></main></body></html>"""
CSS = """body { margin: 0; background: var(--bg) }
#place.table { max-width: 900px; margin: 20px auto; padding: 0 20px 100px }"""
BENCH_JS = """
const query = new URLSearchParams(location.search);
document.body.classList.toggle('dark', query.has('dark'));
const value = { task: query.get('task') ?? 'demo', person: query.get('person') ?? 'p1' };
coeval.workbench(document.getElementById('place'), { value }, () => {});
"""
TABLE_JS = """
/* Stands in for Gradio: props with a value, watchers called on a push from the server, events that are counted. */
const watchers = [];
const sent = [];
const props = {
  kept: null,
  get value() { return this.kept },
  set value(value) { this.kept = value; sent.push(value) },
};
window.sent = sent;
window.events = [];
window.push = (value) => { props.kept = value; watchers.forEach((run) => run()) };
const place = document.getElementById('place');
place.classList.add('table');
document.body.classList.toggle('dark', new URLSearchParams(location.search).has('dark'));
props.kept = await (await fetch('../sheet.json')).json();
coeval.reviewTable(place, props, (name, run) => watchers.push(run), (name) => window.events.push(name));
"""
CSP = "default-src 'self'; base-uri 'self'; object-src 'none'"


class Harness:
    """The server and what the tests say to it: a study, a sheet for the table page, and an address."""

    def __init__(self) -> None:
        self.study = FakeStudy()
        self.sheet: dict[str, Any] = {}
        app = Starlette(
            routes=self._routes(), middleware=[Middleware(BaseHTTPMiddleware, dispatch=_with_policy)]
        )
        self.server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error"))
        self.thread = threading.Thread(target=self.server.run, daemon=True)

    def start(self) -> None:
        self.thread.start()
        while not self.server.started:
            time.sleep(0.01)
        port = self.server.servers[0].sockets[0].getsockname()[1]
        # Under a path, as on a Space behind a proxy: nothing may count on standing at the root.
        self.root = f"http://127.0.0.1:{port}/under/path/"

    def stop(self) -> None:
        self.server.should_exit = True
        self.thread.join(5)

    def reset(self) -> None:
        self.study, self.sheet = FakeStudy(), {}

    def open_bench(self, page: Any, query: str = "", state: str = "step") -> Any:
        """The scrutiny screen in ``page``, shown as far as a person would wait for it."""
        page.goto(f"{self.root}bench/?{query}")
        page.locator(f".wb[data-state={state}][aria-busy=false]").wait_for()
        return page

    def open_table(self, page: Any, query: str = "") -> Any:
        """The table page with ``self.sheet``."""
        page.goto(f"{self.root}table/?{query}")
        page.locator(".rt-list").wait_for()
        return page

    def submissions(self) -> list[dict[str, Any]]:
        """Every submission request that came in, retries included."""
        return [body for name, body in self.study.requests if name == "submission"]

    def _routes(self) -> list[Any]:
        inner = [
            Route("/bench/", lambda request: HTMLResponse(PAGE.format(title="Scrutiny", script="bench"))),
            Route("/table/", lambda request: HTMLResponse(PAGE.format(title="Ballot", script="table"))),
            Route("/bench.js", lambda request: Response(BENCH_JS, media_type="text/javascript")),
            Route("/table.js", lambda request: Response(TABLE_JS, media_type="text/javascript")),
            Route("/page.css", lambda request: Response(CSS, media_type="text/css")),
            Route("/sheet.json", lambda request: JSONResponse(self.sheet)),
            Route("/api/scrutiny/{slug}/step", self.get_step, methods=["POST"]),
            Route("/api/scrutiny/{slug}/submissions", self.post_submission, methods=["POST"]),
            Route("/api/scrutiny/{slug}/marks", self.post_mark, methods=["POST"]),
            Mount("/static", StaticFiles(directory=STATIC)),
        ]
        return [Mount("/under/path", routes=inner)]

    # ---- the contract's routes -----------------------------------------------------------------------

    async def get_step(self, request: Request) -> Response:
        query = dict(request.query_params)
        self.study.requests.append(("step", query))
        known = {str(one["id"]) for one in self.study.instances}
        if query.get("instance", "1") not in known and self.study.instances:
            return JSONResponse({"error": "not_found", "message": "There is no such instance."}, 404)
        return self._refusal() or JSONResponse(self.study.step(query))

    async def post_submission(self, request: Request) -> Response:
        body = await request.json()
        self.study.requests.append(("submission", body))
        refusal = self._refusal()
        if refusal:
            return refusal
        status, answer = self.study.submit(body)
        if self.study.drop:
            return Response("the line broke after the save", 502)
        return JSONResponse(answer, status)

    async def post_mark(self, request: Request) -> Response:
        if not self.study.marks:
            return JSONResponse({"detail": "Not Found"}, 404)
        return self._refusal() or JSONResponse(self.study.mark(await request.json()))

    def _refusal(self) -> Response | None:
        if not self.study.fail:
            return None
        kinds = {401: "sign_in", 403: "not_allowed", 422: "input", 503: "storage"}
        answer = {
            "error": kinds.get(self.study.fail, "server"),
            "message": f"Refused with {self.study.fail}.",
        }
        return JSONResponse(answer, self.study.fail)


async def _with_policy(request: Request, call_next: Any) -> Response:
    response: Response = await call_next(request)
    response.headers["content-security-policy"] = CSP
    response.headers["cache-control"] = "no-cache"
    return response


@pytest.fixture(scope="session")
def harness_server() -> Iterator[Harness]:
    harness = Harness()
    harness.start()
    yield harness
    harness.stop()


@pytest.fixture
def harness(harness_server: Harness) -> Harness:
    """The running server with a fresh study."""
    harness_server.reset()
    return harness_server
