"""Files of the Judge tab: the certificate as a page and as JSON, and judge.json."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import Response

from coeval.judge.certificate.page import render_page
from coeval.llm.presets.registry import get_preset
from coeval.study.access import Context
from coeval.study.drafting.run_settings import RunSettings
from coeval.study.judging.judge_export import export_judge
from coeval.study.judging.state import get_certificate
from coeval.ui.server.identity import get_person


def add_judge_files(app: FastAPI, context: Context) -> None:
    """Add the routes under /download/{slug}/judge/; every one checks the session and the person's role."""

    @app.get("/download/{slug}/judge/certificate.html")
    def read_certificate(request: Request, slug: str, opening: int = 0, save: bool = False) -> Response:
        certificate = get_certificate(context, get_person(context, request), slug, opening)
        saved = _saved(f"{slug}-certificate-{certificate.opening}.html") if save else {}
        return Response(render_page(certificate), media_type="text/html; charset=utf-8", headers=saved)

    @app.get("/download/{slug}/judge/certificate.json")
    def download_certificate(request: Request, slug: str, opening: int = 0) -> Response:
        certificate = get_certificate(context, get_person(context, request), slug, opening)
        text = certificate.model_dump_json(indent=1)
        headers = _saved(f"{slug}-certificate-{certificate.opening}.json")
        return Response(text, media_type="application/json", headers=headers)

    @app.get("/download/{slug}/judge/judge.json")
    def download_judge(
        request: Request, slug: str, texts: bool = False, model: str = "", preset: str = ""
    ) -> Response:
        asks = read_asks(model, preset) if model or preset else None
        content = export_judge(context, get_person(context, request), slug, texts=texts, asks=asks)
        return Response(content, media_type="application/json", headers=_saved("judge.json"))


def read_asks(model: str, preset: str) -> RunSettings:
    """How a judge asks whose scores were imported: as a preset does, or as CoEval does.

    Raises:
        InputError: there is no such preset.
    """
    settings: dict[str, Any] = dict(get_preset(preset).settings) if preset else {}
    return RunSettings(**settings | {"model": model[:500], "steps": False})


def _saved(name: str) -> dict[str, str]:
    return {"Content-Disposition": f'attachment; filename="{name}"'}
