"""The web server: sign-in, sessions, security headers, downloads, and the two Gradio apps.

``/`` is the study app, ``/admin`` the set-up area on a mount of its own: every Gradio event is an endpoint,
so what only owners may reach is kept apart at the door, and checked again in every use case.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import gradio as gr
from fastapi import FastAPI, Request
from fastapi.staticfiles import StaticFiles
from starlette.routing import Mount

from coeval.domain import Role
from coeval.study.access import Context
from coeval.study.drafting.worker import mark_interrupted
from coeval.study.hosting.shipped import get_shipped
from coeval.study.people.sessions import get_member
from coeval.ui.components.theme import HEAD, THEME
from coeval.ui.crowd_pages.joining import add_joining
from coeval.ui.health import Draining, add_health
from coeval.ui.server.error_answers import add_error_answers
from coeval.ui.server.gradio_gate import GradioGate
from coeval.ui.server.guard import Guard
from coeval.ui.server.help_pages import add_help
from coeval.ui.server.identity import get_person, read_session
from coeval.ui.server.signin import add_sign_in
from coeval.ui.setup.setup_page import build_admin
from coeval.ui.ship_first import ShipFirst
from coeval.ui.speaking import Speaking
from coeval.ui.study_app.criteria.ballot_routes import add_criteria_api
from coeval.ui.study_app.downloads import add_downloads
from coeval.ui.study_app.judge.judge_routes import add_judge_files
from coeval.ui.study_app.scrutiny.scrutiny_routes import add_scrutiny_api
from coeval.ui.study_app.study_page import build_main

HERE = Path(__file__).parent
STATIC = "/ui"
"""Our scripts and styles; /static and /assets are Gradio's."""
PAGE_SESSIONS = 25
"""Pages whose last values Gradio keeps; ours hold nothing there to lose. It copies the whole page for each, which is
about half a megabyte."""

UPLOAD_SECONDS = 3600
"""How long an upload stays after it was made: its import takes minutes."""

MOUNT = {
    "ssr_mode": False,
    "footer_links": [],
    "show_error": False,
    "mcp_server": False,
    "run_history": False,
}


def build_app(context: Context, draining: Draining | None = None) -> FastAPI:
    """The whole server, ready to run; ``draining`` is how it learns that it was told to stop."""
    mark_interrupted(context)
    draining = draining or Draining()
    app = FastAPI(title="CoEval", docs_url=None, redoc_url=None, openapi_url=None)
    app.mount(STATIC, StaticFiles(directory=HERE / "static"), name="ui")
    add_sign_in(app, context)
    add_health(app, context, draining)
    add_joining(app, context)
    add_downloads(app, context)
    add_judge_files(app, context)
    add_criteria_api(app, context)
    add_scrutiny_api(app, context)
    _add_shipped(app, context)
    add_error_answers(app)
    add_help(app)
    _mount(app, context, build_admin(context), "/admin", Role.OWNER, "../ui/")
    _mount(app, context, build_main(context), "/", None, "ui/")
    if context.settings.snapshots.ship_first:
        app.add_middleware(ShipFirst, context=context)
    app.add_middleware(Guard, context=context, draining=draining)
    app.add_middleware(Speaking, context=context)
    return app


def _mount(
    app: FastAPI, context: Context, blocks: gr.Blocks, path: str, role: Role | None, static: str
) -> None:
    # Gradio takes any path of the machine for an upload in apps that were mounted rather than launched
    blocks.has_launched = True
    blocks.state_session_capacity = PAGE_SESSIONS
    blocks.delete_cache = (UPLOAD_SECONDS, UPLOAD_SECONDS)
    gr.mount_gradio_app(
        app,
        blocks,
        path=path,
        auth_dependency=lambda request: _name(context, request, role),
        theme=THEME,
        head=HEAD.format(static=static),
        max_file_size="200mb",
        **MOUNT,
    )
    mount = app.routes[-1]
    assert isinstance(mount, Mount)
    mount.app = GradioGate(mount.app, context, role, takes_files=role is Role.OWNER)


def _name(context: Context, request: Request, role: Role | None = None) -> str | None:
    """Gradio's door: the name of whoever may come in, or None; guests have pages of their own."""
    person = get_member(context, read_session(context, request))
    return person.name if person and role in (None, person.role) else None


def _add_shipped(app: FastAPI, context: Context) -> None:
    @app.get("/api/shipped")
    def show_shipped(request: Request) -> dict[str, str]:
        return asdict(get_shipped(context, get_person(context, request)))
