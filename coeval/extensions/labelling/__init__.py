"""Estimates from few human labels: judges corrected for their errors, and items drawn with known probabilities."""

from __future__ import annotations

from coeval.extending import Extension

extension = Extension(
    name="labelling",
    title="Labelling",
    commands=("commands:add_labelling",),
    setup_pages=("page:LabellingTab",),
    schema=("queries:STEPS",),
    queue_orders=("design:order_items",),
    label_draws=("design:draw_uncertain",),
    help=(("For analysts", "help.md"),),
)
