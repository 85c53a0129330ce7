"""Serve the scripts and styles of the pages; a browser asks for each bundle once."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from fastapi.staticfiles import StaticFiles
from starlette.responses import Response
from starlette.types import Scope

from coeval.extending import list_scripts

FOLDER = Path(__file__).parents[1] / "static"
BUNDLE = FOLDER / "bundle"
"""The output of ``npm run --prefix tests/js bundle`` from the modules beside it. Pages load only these
files, three instead of sixty. Node is not needed to run the app.
"""


def _hash_bundle() -> str:
    found = hashlib.sha256()
    for path in sorted(BUNDLE.iterdir()):
        found.update(path.read_bytes())
    return found.hexdigest()[:12]


VERSION = _hash_bundle()
"""Part of the bundle's address, so that browsers load each version exactly once."""


class Scripts(StaticFiles):
    def file_response(
        self,
        full_path: str | os.PathLike[str],
        stat_result: os.stat_result,
        scope: Scope,
        status_code: int = 200,
    ) -> Response:
        answer = super().file_response(full_path, stat_result, scope, status_code)
        if Path(full_path).parent == BUNDLE:
            answer.headers["Cache-Control"] = "public, max-age=31536000, immutable"
        return answer


def render_tags(static: str) -> str:
    """Return the tags for the extensions' scripts and styles, on a page whose static files are at ``static``."""
    tags = []
    for name, folder, files in list_scripts():
        for file in files:
            version = hashlib.sha256((folder / file).read_bytes()).hexdigest()[:12]
            address = f"{static}extensions/{name}/{file}?v={version}"
            is_style = file.endswith(".css")
            tags.append(
                f'<link rel="stylesheet" href="{address}">\n'
                if is_style
                else f'<script type="module" src="{address}"></script>\n'
            )
    return "".join(tags)
