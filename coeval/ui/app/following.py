"""The route that tells a page whether the state of its study changed."""

from __future__ import annotations

from fastapi import FastAPI, Request

from coeval.ui.server.identity import get_person
from coeval.usecases import tasks
from coeval.usecases.access import Context


def add_following(app: FastAPI, context: Context) -> None:
    """Add /api/revision to the server; ``static/core/follow.js`` asks it every few seconds."""

    @app.get("/api/revision/{slug}")
    def get_revision(request: Request, slug: str) -> dict[str, str]:
        return {"revision": tasks.get_revision(context, get_person(context, request), slug)}
