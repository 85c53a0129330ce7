"""A judge that is fitted to people's scores, tested on other scores, and usable without CoEval."""

from __future__ import annotations

from coeval.extending import Extension

extension = Extension(
    name="judge",
    title="Judge",
    commands=("commands:add_judge",),
    study_tabs=("page:JudgeTab",),
    routes=("page:add_judge_files",),
    schema=("queries_seal:STEPS", "queries_wordings:STEPS"),
    help=(("For researchers", "certificate.md"), ("For engineers", "judgefile.md")),
)
