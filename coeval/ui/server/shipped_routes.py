"""What browsers ask of the snapshots, to know what they may forget and what to send again."""

from __future__ import annotations

from dataclasses import asdict

from fastapi import FastAPI, Request

from coeval.study.access import Context
from coeval.study.hosting.shipped import get_shipped
from coeval.ui.server.identity import get_person


def add_shipped(app: FastAPI, context: Context) -> None:
    """Add the route /api/shipped to the server."""

    @app.get("/api/shipped")
    def show_shipped(request: Request) -> dict[str, str]:
        return asdict(get_shipped(context, get_person(context, request)))
