"""Prolific: publish a crowd study there, review its submissions, and pay."""

from __future__ import annotations

from coeval.extending import Extension

extension = Extension(
    name="prolific",
    title="Prolific",
    setup_pages=("page:ProlificTab",),
    routes=("page:add_record",),
    schema=("queries:STEPS",),
)
