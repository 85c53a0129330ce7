"""Fusion of assistant evaluators with a plan that the model writes."""

from __future__ import annotations

from coeval.extending import Extension

extension = Extension(
    name="fusion",
    title="Fusion-Eval",
    boxes=(("prefill", "page:FusionBox"),),
    commands=("commands:add_fusion",),
    protocols=("protocol",),
    help=(("For analysts", "help.md"),),
)
