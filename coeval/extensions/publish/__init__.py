"""A study in one HTML file, which computes its figures again in the reader's browser."""

from __future__ import annotations

from coeval.extending import Extension

extension = Extension(
    name="publish",
    title="Published study",
    commands=("commands:add_publish",),
    boxes=(("agreement", "page:PublishBox"),),
    routes=("page:add_published",),
    help=(("For researchers", "help.md"),),
)
