"""The format of a tool's own files: told by what they hold, read into a gathering, a file or a folder of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from coeval.datasets.format import Format
from coeval.datasets.gathering import Gathering
from coeval.datasets.source import Source, source_of
from coeval.errors import InputError

Recognise = Callable[[Path], bool]
Read = Callable[[Path, Gathering], None]


def tool_format(name: str, title: str, tool: str, recognise: Recognise, read: Read) -> Format:
    """A format of one file or several: ``recognise`` tells whether a file is one, ``read`` adds what it holds."""

    def open_files(path: Path, slug: str, columns: object) -> Source:
        gathering = Gathering(slug, tool)
        files = [file for file in sorted(path.iterdir()) if recognise(file)] if path.is_dir() else [path]
        if not files:
            raise InputError(f"{path.name}: holds no file of {tool}; give the path of the files it wrote.")
        for file in files:
            read(file, gathering)
        return source_of(gathering.build())

    return Format(name, title, fits=lambda path, columns: fits(path, recognise), open=open_files)


def fits(path: Path, recognise: Recognise) -> bool:
    """Whether a file is recognised, or a file that stands in a folder."""
    return any(map(recognise, sorted(path.iterdir()))) if path.is_dir() else recognise(path)
