"""People, judges, criteria and systems on one scale."""

from __future__ import annotations

from coeval.extending import Extension

extension = Extension(
    name="facets",
    title="Facets",
    commands=("commands:add_facets",),
    setup_pages=("page:FacetsTab",),
    help=(("For analysts", "help.md"),),
)
