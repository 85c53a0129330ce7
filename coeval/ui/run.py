"""Assemble the web server, run it until it must stop, and end cleanly.

``/`` is the study app and ``/admin`` the set-up area. Every Gradio event is an endpoint, so the events for owners have
a mount of their own with a check of the role, and every use case checks the role again.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
from collections.abc import Callable
from dataclasses import asdict, replace
from functools import partial
from types import FrameType
from typing import Any, TextIO

import gradio as gr
import uvicorn
from fastapi import FastAPI, Request
from fastapi.staticfiles import StaticFiles
from gradio.brotli_middleware import BrotliMiddleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.routing import Mount

from coeval.domain import Role
from coeval.errors import InputError
from coeval.extending import list_scripts, load_parts
from coeval.settings import Settings, SignIn
from coeval.ui.app.ballot_routes import add_criteria_api
from coeval.ui.app.downloads import add_downloads
from coeval.ui.app.scrutiny_tab import add_scrutiny_api, open_scrutiny
from coeval.ui.components.theme import THEME
from coeval.ui.crowd_pages.routes import add_joining
from coeval.ui.gradio_pages import build_admin, build_main, keep_signatures
from coeval.ui.server.connection_limits import MOST_CONNECTIONS, build_protocol
from coeval.ui.server.first_page import FirstPage
from coeval.ui.server.gradio_gate import GradioGate, shorten_tracebacks
from coeval.ui.server.guard import Guard
from coeval.ui.server.identity import get_person, read_session
from coeval.ui.server.language_middleware import Speaking
from coeval.ui.server.payloads import add_error_answers
from coeval.ui.server.plain_pages import FOLDER, add_help, render_tags
from coeval.ui.server.readiness import Draining, Standby, add_health
from coeval.ui.server.request_limits import FILE_BYTES
from coeval.ui.server.signin import add_sign_in
from coeval.usecases import tasks
from coeval.usecases.access import Context
from coeval.usecases.accounts import note_address, tell_first_run
from coeval.usecases.drafting.jobs import get_worker, mark_interrupted
from coeval.usecases.hosting.maintenance import sweep
from coeval.usecases.hosting.replication import WIPED, get_shipped
from coeval.usecases.hosting.startup import open_kept
from coeval.usecases.reports.statistics import compute_apart
from coeval.usecases.sessions import get_member
from coeval.usecases.study_import import ensure_demo

LONGEST_LINE = 1000


class ShortLines:
    """A stream that shortens long lines, because Gradio logs refused requests in full."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        self._stream.write(shorten_lines(text))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def shorten_lines(text: str) -> str:
    """
    >>> shorten_lines("short" + chr(10) + "x" * 5000)[-26:]
    'xxxxxx… (4,000 characters)'
    """
    if len(text) <= LONGEST_LINE:
        return text
    return "\n".join(
        line
        if len(line) <= LONGEST_LINE
        else f"{line[:LONGEST_LINE]}… ({len(line) - LONGEST_LINE:,} characters)"
        for line in text.split("\n")
    )


# The web server: sign-in, sessions, security headers, downloads, and the two Gradio apps.

STATIC = "/ui"
"""Our scripts and styles; /static and /assets are Gradio's."""
PAGE_SESSIONS = 25
"""Number of pages whose last values Gradio keeps. Our pages do not need them, and Gradio copies half a
megabyte for each.
"""

IDLE_SECONDS = 0.02
"""Seconds between two looks of Gradio's queue for an event. Its own millisecond takes 4% of a processor
from a server on which nothing happens.
"""

DRAIN_SECONDS = 5.0
"""Seconds for which a stopping server on PostgreSQL still answers, so that the balancer notices first."""

UPLOAD_SECONDS = 3600
"""Seconds that an upload is kept, because its import takes minutes."""

MOUNT = {
    "ssr_mode": False,
    "footer_links": [],
    "show_error": False,
    "mcp_server": False,
    "run_history": False,
}


def build_app(context: Context, draining: Draining | None = None) -> FastAPI:
    """Return the whole server, ready to run; ``draining`` tells it to stop."""
    keep_signatures()
    mark_interrupted(context)
    draining = draining or Draining()
    app = FastAPI(title="CoEval", docs_url=None, redoc_url=None, openapi_url=None)
    for name, folder, _ in list_scripts():
        app.mount(f"{STATIC}/extensions/{name}", StaticFiles(directory=folder), name=f"ui-{name}")
    app.mount(STATIC, BrotliMiddleware(StaticFiles(directory=FOLDER), quality=5), name="ui")
    add_sign_in(app, context)
    add_health(app, context, draining)
    add_joining(app, context)
    for add in load_parts("routes"):  # before the core's routes, one of which accepts any name of a download
        add(app, context)
    add_downloads(app, context)
    add_criteria_api(app, context)
    add_scrutiny_api(app, context)
    _add_states(app, context)
    add_error_answers(app)
    add_help(app)
    _mount(app, context, build_admin(context), "/admin", Role.OWNER, "../ui/")
    _mount(app, context, build_main(context), "/", None, "ui/")
    # the first page is 130 kB of repetitive text; event streams are not compressed
    app.add_middleware(GZipMiddleware, minimum_size=1000, compresslevel=5)
    app.add_middleware(Guard, context=context, draining=draining)
    app.add_middleware(Speaking, context=context)
    return app


def _mount(
    app: FastAPI, context: Context, blocks: gr.Blocks, path: str, role: Role | None, static: str
) -> None:
    # in an app that is mounted, not launched, Gradio accepts any path of the machine as an upload
    blocks.has_launched = True
    blocks.state_session_capacity = PAGE_SESSIONS
    blocks.delete_cache = (UPLOAD_SECONDS, UPLOAD_SECONDS)
    blocks._queue.sleep_when_free = IDLE_SECONDS
    gr.mount_gradio_app(
        app,
        blocks,
        path=path,
        auth_dependency=lambda request: _name(context, request, role),
        theme=THEME,
        max_file_size=FILE_BYTES,
        **MOUNT,
    )
    mount = app.routes[-1]
    assert isinstance(mount, Mount) and isinstance(mount.app, gr.routes.App)
    blocks.app = mount.app  # Gradio's queue runs its events through this app
    shorten_tracebacks()
    opens: dict[str, Any] = (
        {} if role else {"extensions": render_tags(static), "open_tab": partial(open_scrutiny, context)}
    )
    page = FirstPage(blocks, static, **opens)
    mount.app = GradioGate(mount.app, context, role, page, takes_files=role is Role.OWNER)


def _name(context: Context, request: Request, role: Role | None = None) -> str | None:
    """Return the name of a person with access, for Gradio's check, or None; guests have separate pages."""
    person = get_member(context, read_session(context, request))
    return person.name if person and role in (None, person.role) else None


def _add_states(app: FastAPI, context: Context) -> None:
    """Add the routes that an open page asks: the last snapshot, and whether its study changed."""

    @app.get("/api/revision/{slug}")
    def get_revision(request: Request, slug: str) -> dict[str, str]:
        return {"revision": tasks.get_revision(context, get_person(context, request), slug)}

    @app.get("/api/shipped")
    def show_shipped(request: Request) -> dict[str, str]:
        return asdict(get_shipped(context, get_person(context, request)))


# Run the server until a signal to stop, and end cleanly.


def run_server(
    settings: Settings,
    host: str,
    port: int,
    *,
    start_empty: bool = False,
    lineage: str = "",
    when_built: Callable[[], None] = lambda: None,
    prepare: Callable[[Context], object] = ensure_demo,
) -> None:
    """Serve CoEval on an address until interrupted; ``when_built`` is called before the first visitor.

    ``prepare`` puts a study into the file; by default, it puts the demo into a new file. If people sign in by links,
    it returns the text with the links. ``start_empty`` begins a new
    study if there is no file, even if a snapshot exists; ``lineage`` names the study to restore.

    Raises:
        InputError: the port is taken.
        StorageError: the file cannot be opened, or a snapshot place cannot be read.
    """
    _check_free(host, port)
    # from here on, new files such as the database and its copies are private
    os.umask(0o077)
    sys.stderr = ShortLines(sys.stderr)
    settings = replace(settings, host=host, port=port)
    with Standby(host, port) as standby:
        store, keeper = open_kept(settings, start_empty=start_empty, lineage=lineage, on_wait=standby.say)
    context = Context(store, settings)
    note_address(context)
    told = prepare(context)
    if keeper:
        keeper.start()
    # once the requests under way are answered, uvicorn sends itself the signal again. SIGTERM's default
    # action would end the process at once, before the last snapshot
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    readings = compute_apart(context)
    draining, worker = Draining(), get_worker(context)
    config = _config(context, host, port, draining)
    when_built()
    if settings.server:
        worker.follow()

    def begin() -> None:
        # where only links open the page, the address alone leads nowhere
        print(told if settings.sign_in is SignIn.LINKS else _tell_address(context), flush=True)
        for line in [*tell_first_run(context), *([WIPED] if settings.is_wiped else [])]:
            print(line, flush=True)
        sweep(context)

    try:
        _Server(config, draining, DRAIN_SECONDS if settings.server else 0.0, begin).run()
    except KeyboardInterrupt:
        pass
    finally:
        worker.stop()
        if keeper:
            keeper.stop()
        readings.close()
        store.close()


def _tell_address(context: Context) -> str:
    settings = context.settings
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    address = settings.public_url or f"http://{host}:{settings.port}"
    return f"CoEval is at {address}  ({context.store.shown_address}; Ctrl+C stops it)"


class _Server(uvicorn.Server):
    """A server that continues to answer for some seconds after SIGTERM, so that the balancer notices first.

    ``begin`` is called once the server listens.
    """

    def __init__(
        self, config: uvicorn.Config, draining: Draining, seconds: float, begin: Callable[[], None]
    ) -> None:
        super().__init__(config)
        self.draining, self.seconds, self.begin = draining, seconds, begin

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self.begin()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        begun, self.draining.begun = self.draining.begun, True
        if begun or sig == signal.SIGINT or not self.seconds:
            super().handle_exit(sig, frame)
            return
        stop = threading.Timer(self.seconds, super().handle_exit, (sig, frame))
        stop.daemon = True
        stop.start()


def _config(context: Context, host: str, port: int, draining: Draining) -> uvicorn.Config:
    proxies = list(context.settings.proxies)
    return uvicorn.Config(
        build_app(context, draining),
        host=host,
        port=port,
        log_level="warning",
        timeout_graceful_shutdown=10,
        # longer than one evaluation takes, so that the connection is still open for the confirm
        timeout_keep_alive=75,
        forwarded_allow_ips=proxies,
        http=build_protocol(proxies),
        limit_concurrency=MOST_CONNECTIONS,
        server_header=False,
    )


def _check_free(host: str, port: int) -> None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise InputError(
                f"Port {port} on {host} cannot be used ({error.strerror}): choose another with --port."
            ) from error
