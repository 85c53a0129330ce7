"""Rubrics: criteria with points for single instances, which a model and people judge one by one."""

from __future__ import annotations

from coeval.extending import Extension

extension = Extension(
    name="rubrics",
    title="Rubrics",
    commands=("commands:add_rubrics",),
    study_tabs=("page:RubricsTab",),
    routes=("page:add_rubrics_api",),
    formats=("files:FORMATS",),
    exports=("files:EXPORTS",),
    schema=("queries_schema:STEPS",),
    help=(("For researchers", "help.md"),),
    scripts=("rubrics.css", "rubrics.js"),
)
