"""What may be said of an import, wherever the file comes from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from coeval.datasets import Source, open_source
from coeval.domain import ColumnRole, Group


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """How a file is read, and what of its task it leaves open."""

    format: str = "auto"
    mapping: Mapping[str, str] | None = None
    """Which column each field is read from (field -> column)."""
    name: str = ""
    """That of a new task; without it, it has that of the file, as with ``description``."""
    description: str = ""
    language: str = ""
    """That of the annotators' screens of a new task; without it, it is the file's, or English."""
    roles: Mapping[str, ColumnRole] = field(default_factory=dict)
    """Who may see which further column, for columns that the task does not have yet; the others get one by rule."""
    group: Group | None = None
    """That of the file's people who are new here, where it names none for them."""
    criteria_lines: Sequence[str] = ()
    """Criteria that are established with the file, without a vote (see ``listed.parse_criteria_lines``)."""
    empty_outputs: bool = False
    """Whether a row without an output is an instance like others."""

    def open(self, path: Path, slug: str) -> Source:
        """The file or folder, checked; raises InputError for one that cannot be used."""
        return open_source(
            path, slug=slug, format=self.format, mapping=self.mapping, empty_outputs=self.empty_outputs
        )


USUAL = ImportOptions()
