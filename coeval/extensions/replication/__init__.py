"""Recompute the tables of papers from their released data."""

from __future__ import annotations

from coeval.extending import Extension

extension = Extension(
    name="replication",
    title="Replication",
    formats=("released_study:FORMAT", "wide_answers:FORMAT"),
    exports=("released_study:PERSON_FILES",),
    commands=("commands:add_replicate",),
    help=(("For analysts", "replicate.md"),),
)
