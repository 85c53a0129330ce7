"""Every tool whose results are read. A new one is a file with its ``FORMAT``, and a line here."""

from __future__ import annotations

from coeval.datasets.evallogs import deepeval, inspect_logs, langfuse, openai_evals, phoenix, promptfoo
from coeval.datasets.format import Format

EVAL_LOGS: tuple[Format, ...] = (
    inspect_logs.FORMAT,
    promptfoo.FORMAT,
    deepeval.FORMAT,
    langfuse.FORMAT,
    phoenix.FORMAT,
    openai_evals.FORMAT,
)
