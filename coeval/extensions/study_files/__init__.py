"""Export a whole study to one file, and import it elsewhere."""

from __future__ import annotations

from coeval.extending import Extension

extension = Extension(
    name="study_files",
    title="Study files",
    commands=("commands:add_study",),
    boxes=(("hosting", "page:MovingBox"),),
    routes=("page:add_study_file",),
)
