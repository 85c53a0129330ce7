"""Import data sets from the Hugging Face Hub, and publish studies there."""

from __future__ import annotations

from coeval.extending import Extension

extension = Extension(
    name="hub",
    title="Hugging Face Hub",
    commands=("commands:add_addresses",),
    boxes=(("hosting", "page:PublishBox"), ("import", "page:HubBox")),
    formats=("study_tables:HUB_STUDY_FORMAT",),
)
