"""The web server: sign-in, sessions, security headers, downloads, and the two Gradio apps.

``/`` is the study app, ``/admin`` the set-up area on a mount of its own: every Gradio event is an endpoint,
so what only owners may reach is kept apart at the door, and checked again in every use case.
"""

from __future__ import annotations

import html
from pathlib import Path

import gradio as gr
from fastapi import FastAPI, Form, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from fastapi.staticfiles import StaticFiles

from coeval.domain import Role
from coeval.errors import CoevalError
from coeval.study.access import Context
from coeval.study.people import SESSION_DAYS, get_signed_in, sign_in, sign_out
from coeval.ui.admin import build_admin
from coeval.ui.api import add_api
from coeval.ui.downloads import add_downloads
from coeval.ui.guard import Guard
from coeval.ui.identity import COOKIE
from coeval.ui.main import build_main
from coeval.ui.theme import HEAD, THEME

HERE = Path(__file__).parent
STATIC = "/ui"
"""Our scripts and styles; /static and /assets are Gradio's."""
MOUNT = {
    "ssr_mode": False,
    "footer_links": [],
    "show_error": False,
    "mcp_server": False,
    "run_history": False,
}


def build_app(context: Context) -> FastAPI:
    """The whole server, ready to run."""
    app = FastAPI(title="CoEval", docs_url=None, redoc_url=None, openapi_url=None)
    app.mount(STATIC, StaticFiles(directory=HERE / "static"), name="ui")
    _add_sign_in(app, context)
    add_downloads(app, context)
    add_api(app, context)
    _mount(app, build_admin(context), "/admin", lambda request: _name(context, request, Role.OWNER), "../ui/")
    _mount(app, build_main(context), "/", lambda request: _name(context, request), "ui/")
    app.add_middleware(Guard, context=context)
    return app


def _mount(app: FastAPI, blocks: gr.Blocks, path: str, auth, static: str) -> None:  # type: ignore[no-untyped-def]
    gr.mount_gradio_app(
        app,
        blocks,
        path=path,
        auth_dependency=auth,
        theme=THEME,
        head=HEAD.format(static=static),
        max_file_size="200mb" if path == "/admin" else "1mb",
        **MOUNT,  # type: ignore[arg-type]
    )


def _name(context: Context, request: Request, role: Role | None = None) -> str | None:
    """Gradio's door: the name of whoever may come in, or None."""
    person = get_signed_in(context, request.cookies.get(COOKIE))
    return person.name if person and role in (None, person.role) else None


def _add_sign_in(app: FastAPI, context: Context) -> None:
    @app.get("/signin", response_class=HTMLResponse)
    def show_sign_in(request: Request) -> Response:
        if _name(context, request):
            return RedirectResponse("./", 303)
        return HTMLResponse(_sign_in_page(""))

    @app.post("/signin")
    def post_sign_in(request: Request, name: str = Form("", max_length=1000)) -> Response:
        try:
            _, token = sign_in(context, name)
        except CoevalError as error:
            return HTMLResponse(_sign_in_page(str(error), name), 422)
        answer = RedirectResponse("./", 303)
        age = SESSION_DAYS * 24 * 3600
        answer.set_cookie(COOKIE, token, max_age=age, httponly=True, samesite="lax", path="/")
        return answer

    @app.post("/signout")
    def post_sign_out(request: Request) -> Response:
        sign_out(context, request.cookies.get(COOKIE, ""))
        answer = RedirectResponse("signin", 303)
        answer.delete_cookie(COOKIE, path="/")
        return answer

    @app.get("/healthz")
    def check_health() -> dict[str, str]:
        with context.store.read():
            return {"status": "ok"}


def _sign_in_page(error: str, name: str = "") -> str:
    page = (HERE / "pages" / "signin.html").read_text(encoding="utf-8")
    return page.replace("{error}", html.escape(error)).replace("{name}", html.escape(name))
