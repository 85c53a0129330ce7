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
    open_empty: Callable[[Path, str, Columns], Source] | None = None
    """As ``open``, where an empty output is an answer like others; none where the format has a rule of its own."""
    folder: str = ""
    """What a folder of this format holds; empty where it is always one file."""

    def read(self, path: Path, slug: str, columns: Columns, *, empty_outputs: bool = False) -> Source:
        """As ``open``, or with ``empty_outputs`` as ``open_empty``; raises InputError too where columns are mapped that
        the format fixes."""
        if columns and not self.fields:
            raise InputError(
                f"columns cannot be mapped in the format {self.name}, whose fields are fixed; leave it out."
            )
        open_source = self.open_empty if empty_outputs and self.open_empty else self.open
        return open_source(path, slug, columns)
