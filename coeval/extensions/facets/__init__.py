"""People, judges, criteria and systems on one scale, and the sources of error in a mean."""

from __future__ import annotations

from coeval.extending import Extension

extension = Extension(
    name="facets",
    title="Facets",
    commands=("commands:add_facets",),
    setup_pages=("page:FacetsTab",),
    help=(("For analysts", "help.md"),),
)
