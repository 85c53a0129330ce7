"""One ruler for people, judges, criteria and systems, and where the error of a mean comes from."""

from __future__ import annotations

from coeval.extending import Extension

extension = Extension(
    name="facets",
    title="Facets",
    commands=("commands:add_facets",),
    setup_pages=("page:FacetsTab",),
    help=(("For analysts", "help.md"),),
)
