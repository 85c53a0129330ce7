"""Read and write files of spans: the formats by name, and several files as one collection."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from coeval.errors import InputError
from coeval.extensions.spans import esa_csv, mqm_tsv
from coeval.extensions.spans.annotations import Collection, collect
from coeval.extensions.spans.reading import Further, SpanFormat
from coeval.extensions.spans.typology import Typology, load_typology

FORMATS = (mqm_tsv.FORMAT, esa_csv.FORMAT)
ENDINGS = {".tsv": "mqm-tsv", ".csv": "esa-csv"}
TYPOLOGIES = {"mqm-tsv": "wmt", "esa-csv": "esa"}


def get_format(name: str) -> SpanFormat:
    """Return the format with that name.

    Raises:
        InputError: there is none.
    """
    for one in FORMATS:
        if one.name == name:
            return one
    raise InputError(
        f"“{name[:60]}” is not a format for spans: use {', '.join(one.name for one in FORMATS)}."
    )


def read_files(
    paths: Sequence[Path], further: Further, *, format: str = "", typology: str = ""
) -> tuple[Collection, Typology]:
    """Return the annotations in files of one format, and their typology.

    The default format comes from the extension of the first file. An annotator in several files counts as a different
    person in each, because each file is a separate campaign.

    Raises:
        InputError: a file cannot be read, or its format is unknown.
    """
    name = format or ENDINGS.get(Path(paths[0].name.removesuffix(".gz")).suffix, "")
    if not name:
        raise InputError(f"The format of {paths[0].name} is not clear from its name: give it with --format.")
    chosen = get_format(name)
    kind = load_typology(typology or TYPOLOGIES.get(name, "mqm"))
    found = [chosen.read(path, kind, further) for path in paths]
    if len(found) == 1:
        return found[0], kind
    annotations = (
        replace(one, annotator=f"{path.stem} {one.annotator}")
        for path, each in zip(paths, found, strict=True)
        for one in each.annotations
    )
    return collect(annotations, dict.fromkeys(note for each in found for note in each.notes)), kind


def write_file(collection: Collection, typology: Typology, format: str) -> str:
    """Render annotations as a file in that format.

    Raises:
        InputError: there is no such format.
    """
    return get_format(format).write(collection, typology)
