"""What a file format is: how it is told from others, opened and previewed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from coeval.datasets.source import Source
from coeval.datasets.tables.table import Table
from coeval.errors import InputError

Columns = Mapping[str, str] | None
"""Which column each field is read from (field -> column)."""


@dataclass(frozen=True, slots=True)
class Format:
    """A kind of file or folder that can be imported; ``registry.FORMATS`` lists them all."""

    name: str
    """As in ``--format``."""
    title: str
    """As on the import page."""
    fits: Callable[[Path, Columns], bool]
    """Whether a file or folder is of this format, or may be."""
    open: Callable[[Path, str, Columns], Source]
    """The study in a file or folder, for the task of that short name; raises InputError for one that is broken."""
    fields: tuple[str, ...] = ()
    """The fields that can be mapped to a column; none where the format fixes them."""
    table: Callable[[Path], Table] | None = None
    """The columns and rows of a file, where it is a table."""
    folder: str = ""
    """What a folder of this format holds; empty where it is always one file."""

    def read(self, path: Path, slug: str, columns: Columns) -> Source:
        """As ``open``; raises InputError too where columns are mapped that the format fixes."""
        if columns and not self.fields:
            raise InputError(
                f"columns cannot be mapped in the format {self.name}, whose fields are fixed; leave it out."
            )
        return self.open(path, slug, columns)
