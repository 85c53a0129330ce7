"""What processes leave that were killed: half-read imports, and copies on their way."""

from __future__ import annotations

import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from coeval.errors import CoevalError
from coeval.study.access import Context
from coeval.study.importing.staging import remove_unfinished

OLD_SECONDS = 24 * 60 * 60
"""Nothing takes so long to copy: what has not been touched since is nobody's."""

TEMPORARY = ("coeval-snapshot-*", "coeval-import-*")
"""The folders of temporary files that this app makes."""


def sweep(context: Context) -> None:
    """Remove what killed processes left, in the background: nobody waits for it, and no failure of it matters."""
    threading.Thread(target=_sweep, args=(context,), name="sweep", daemon=True).start()


def _sweep(context: Context) -> None:
    with suppress(CoevalError):
        remove_unfinished(context)
    for path in list_leftovers(context):
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            with suppress(OSError):
                path.unlink()


def list_leftovers(context: Context) -> list[Path]:
    """Copies on their way, and folders of temporary files, that nothing has touched for a day."""
    return [path for path in _list_candidates(context) if _is_old(path)]


def _list_candidates(context: Context) -> Iterator[Path]:
    live, snapshots = context.settings.db, context.settings.snapshots.folder
    if not context.settings.server:
        yield live.with_name(live.name + ".part")
    if snapshots:
        yield from snapshots.glob("coeval-*.part")
    for pattern in TEMPORARY:
        yield from Path(tempfile.gettempdir()).glob(pattern)


def _is_old(path: Path) -> bool:
    try:
        return time.time() - path.stat().st_mtime > OLD_SECONDS
    except OSError:
        return False
