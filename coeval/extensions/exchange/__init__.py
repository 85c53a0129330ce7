"""Import and export files of other tools."""

from __future__ import annotations

from coeval.extending import Extension

extension = Extension(
    name="exchange",
    title="Other tools",
    formats=("formats:IMPORTS",),
    exports=("formats:EXPORTS",),
    help=(("For analysts", "tools.md"),),
)
