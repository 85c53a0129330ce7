"""The file that the first version of CoEval wrote: a thousand scores of five people, in three arms."""

from __future__ import annotations

import gzip
from pathlib import Path

from coeval.settings import load_settings
from coeval.store import Store
from coeval.usecases.access import Context

OLD_FILE = Path(__file__).parents[2] / "data" / "old_file.db.gz"


def open_old_file(folder: Path) -> Context:
    """That file, opened by this version, as ``old.db`` in a folder."""
    path = folder / "old.db"
    path.write_bytes(gzip.decompress(OLD_FILE.read_bytes()))
    return Context(Store(path), load_settings({}, db=path))
