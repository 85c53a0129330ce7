"""Typed error spans (MQM, ESA and custom typologies), which a model drafts and people edit in the text."""

from __future__ import annotations

from coeval.extending import Extension

extension = Extension(
    name="spans",
    title="Spans",
    commands=("commands:add_spans",),
    study_tabs=("page:SpansTab",),
    routes=("page:add_spans_api",),
    schema=("queries:STEPS",),
    help=(("For researchers", "help.md"),),
    scripts=("spans.js", "spans.css"),
)
