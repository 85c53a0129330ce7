"""The import and export formats of other tools. To add one, write its module and list it here."""

from __future__ import annotations

from coeval.datasets.file_format import Format
from coeval.extensions.exchange import (
    annotation_tools,
    eval_runs,
    inspect_logs,
    label_studio,
    tool_exports,
    traces,
)
from coeval.usecases.out_format import OutFormat

IMPORTS: tuple[Format, ...] = (
    inspect_logs.FORMAT,
    eval_runs.PROMPTFOO_FORMAT,
    eval_runs.DEEPEVAL_FORMAT,
    traces.LANGFUSE_FORMAT,
    traces.PHOENIX_FORMAT,
    annotation_tools.DOCCANO_FORMAT,
    annotation_tools.POTATO_FORMAT,
    annotation_tools.ARGILLA_FORMAT,
    label_studio.FORMAT,
)
"""Formats from the most general to the most specific. A file is read with the last format that matches."""

EXPORTS: tuple[OutFormat, ...] = (
    tool_exports.LABEL_STUDIO,
    tool_exports.INSPECT_EDITS,
)
