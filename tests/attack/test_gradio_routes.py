"""Gradio's own sixty routes: strangers reach none, members those their page uses, and only owners may upload."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.attack.conftest import Visit

VALUES = {"path": "x.js", "session_hash": "abc", "event_id": "e", "api_name": "predict", "url_path": "http://x/",
          "path_or_url": "/etc/passwd", "page": "x", "id": "1", "type": "a", "environment": "b", "file_name": "c",
          "run": "1", "component_id": "1", "segment_id": "1", "ext": "ts", "key": "k", "size": "1",
          "endpoint": "e", "record_id": "1"}  # fmt: skip


def routes_of(app: Any) -> Iterator[tuple[str, str]]:
    """Every route that a Gradio app has, with values in the place of its parameters."""

    def walk(routes: Any, prefix: str) -> Iterator[tuple[str, str]]:
        for route in routes:
            inner = getattr(route, "routes", None) or getattr(
                getattr(route, "original_router", None), "routes", None
            )
            path = getattr(route, "path", "")
            if inner and not getattr(route, "methods", None):
                yield from walk(inner, prefix)
            for method in sorted(getattr(route, "methods", None) or ()):
                for name, value in VALUES.items():
                    path = path.replace(f"{{{name}}}", value).replace(f"{{{name}:path}}", value)
                yield method, prefix + path

    for mount in app.routes:
        gate = getattr(mount, "app", None)
        if type(gate).__name__ in ("GradioGate", "App"):
            gradio_app = getattr(gate, "app", gate) if type(gate).__name__ == "GradioGate" else gate
            yield from walk(gradio_app.routes, mount.path)


ALSO = ("/openapi.json", "/gradio_api/deep_link", "/gradio_api/heartbeat/abc", "/gradio_api/openapi.json",
        "/gradio_api/startup-events", "/gradio_api/app_id", "/gradio_api/user", "/gradio_api/token", "/monitoring",
        "/manifest.json", "/theme.css", "/static/fonts/x.woff2", "/gradio_api/vibe-edit", "/gradio_api/login_check",
        "/gradio_api/upload_progress?upload_id=a", "/gradio_api/stream/a/1/1/playlist.m3u8")  # fmt: skip


@pytest.mark.slow
def test_a_stranger_reaches_no_route_of_gradio(app: Any, visit: Visit) -> None:
    nobody = visit()
    tried = {*routes_of(app), *(("GET", mount + path) for mount in ("", "/admin") for path in ALSO)}
    assert len(tried) > 100
    for method, path in sorted(tried):
        answer = nobody.request(method, path)
        led_away = answer.status_code == 303 and answer.headers["location"].endswith("signin")
        assert answer.status_code in (307, 401, 404, 405) or led_away, (method, path, answer.status_code)


@pytest.mark.slow
def test_a_member_reaches_what_the_page_uses_and_no_more(app: Any, visit: Visit) -> None:
    browser = visit("Ana")
    closed = [
        path for path in ALSO if path not in ("/gradio_api/app_id", "/theme.css", "/gradio_api/heartbeat/abc")
    ]
    for path in [*closed, "/gradio_api/proxy=http://x/", "/gradio_api/file=/etc/passwd", "/login", "/logout"]:
        for method in ("GET", "POST"):
            assert browser.request(method, path).status_code in (404, 405), (method, path)
    for part in (
        "run/on_load",
        "api/predict",
        "call/on_load",
        "call/v2/on_load",
        "component_server",
        "upload",
    ):
        assert browser.post(f"/gradio_api/{part}", json={"data": []}).status_code == 404


@pytest.mark.slow
def test_an_event_that_waits_its_turn_cannot_pass_the_queue_by(app: Any, visit: Visit) -> None:
    """Otherwise, one person could ask a model as often as the server has threads."""
    browser = visit("Ana")
    functions = next(
        mount.app.app.get_blocks().fns
        for mount in reversed(app.routes)  # the study's page is mounted last
        if type(getattr(mount, "app", None)).__name__ == "GradioGate"
    )
    queued = [index for index, function in functions.items() if function.queue is not False]
    assert 0 < len(queued) < len(functions)
    for index in queued:
        body = {"data": [None] * len(functions[index].inputs), "fn_index": index, "session_hash": "s"}
        assert browser.post("/gradio_api/run/predict", json=body).status_code == 422
