"""Downloads: the export, each of its tables, the paper's tables."""

from __future__ import annotations

import io
import tempfile
import zipfile
from collections.abc import Iterator
from typing import IO

from fastapi import FastAPI, Request
from fastapi.responses import Response, StreamingResponse

from coeval.errors import NotFoundError
from coeval.safe_csv import to_csv
from coeval.ui.server.identity import get_person
from coeval.usecases.access import Context
from coeval.usecases.export import TABLES, export_table, export_zip, export_zip_as
from coeval.usecases.reports import statistics
from coeval.usecases.study_outlines import export_outline

FILES = tuple(TABLES)
CSV = "text/csv; charset=utf-8"
BLOCK = 1 << 18
"""Number of bytes sent at a time."""

IN_MEMORY = 32_000_000
"""Largest size of a file in memory; longer files are written to disk while they are built."""


def add_downloads(app: FastAPI, context: Context) -> None:
    """Add the routes under /download to the server; every one checks the session and the person's role."""

    @app.get("/download/{slug}/export.zip")
    def download_zip(request: Request, slug: str) -> Response:
        target = open_spooled()
        export_zip(context, get_person(context, request), slug, target)
        return send_file(target, f"{slug}.zip", "application/zip")

    @app.get("/download/{slug}/outline.zip")
    def download_outline(request: Request, slug: str) -> Response:
        target = open_spooled()
        export_outline(context, get_person(context, request), slug, target)
        return send_file(target, f"{slug}-outline.zip", "application/zip")

    @app.get("/download/{slug}/as/{name}.zip")
    def download_as(request: Request, slug: str, name: str) -> Response:
        target = open_spooled()
        export_zip_as(context, get_person(context, request), slug, name, target)
        return send_file(target, f"{slug}-{name}.zip", "application/zip")

    @app.get("/download/{slug}/paper-tables.zip")
    def download_paper_tables(request: Request, slug: str) -> Response:
        files = statistics.get_paper_tables(context, get_person(context, request), slug)
        target = open_spooled()
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in files.items():
                archive.writestr(name, content if isinstance(content, str) else to_csv(content))
        return send_file(target, f"{slug}-paper-tables.zip", "application/zip")

    @app.get("/download/{slug}/{name}")
    def download_table(request: Request, slug: str, name: str) -> Response:
        if name not in FILES:
            raise NotFoundError(f"There is no file “{name[:80]}” to download; there are: {', '.join(FILES)}.")
        target = open_spooled()
        text = io.TextIOWrapper(target, "utf-8", newline="")
        export_table(context, get_person(context, request), slug, name, text)
        text.detach()
        return send_file(target, f"{slug}-{name}", CSV)


def open_spooled() -> IO[bytes]:
    """Return an empty file to write a download to: in memory while it is small."""
    return tempfile.SpooledTemporaryFile(max_size=IN_MEMORY)


def send_file(target: IO[bytes], name: str, kind: str) -> Response:
    """Send the file under this name as the answer, and then close it."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Content-Length": str(target.tell())}
    return StreamingResponse(_read_blocks(target), media_type=kind, headers=headers)


def _read_blocks(target: IO[bytes]) -> Iterator[bytes]:
    """Yield the file in large blocks, because each block costs the server one switch of threads."""
    with target:
        target.seek(0)
        while block := target.read(BLOCK):
            yield block
