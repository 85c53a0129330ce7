"""Every annotation tool whose files are read. A new one is a file with its ``FORMAT``, and a line here."""

from __future__ import annotations

from coeval.datasets.annotation import argilla, doccano, label_studio, potato
from coeval.datasets.format import Format

ANNOTATION_TOOLS: tuple[Format, ...] = (
    doccano.FORMAT,
    potato.FORMAT,
    argilla.FORMAT,
    label_studio.FORMAT,
)
