"""The help page names every key of the JSON that the commands print."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import coeval.extensions.facets
from coeval.extensions.facets.links import Links, Part
from coeval.extensions.facets.ruler import Effect, Element, FairSystem, Ruler
from coeval.stats.error_sources import ErrorStudy, PeopleSources, Purchase, Sources, SystemMean


def test_every_key_is_documented() -> None:
    page = Path(coeval.extensions.facets.__file__).with_name("help.md").read_text(encoding="utf-8")
    told = {
        key for line in page.splitlines() if line.startswith("| ") for key in re.findall(r"`([a-z_]+)`", line)
    }
    shapes = (
        Links,
        Part,
        Effect,
        Element,
        FairSystem,
        Ruler,
        ErrorStudy,
        PeopleSources,
        Purchase,
        Sources,
        SystemMean,
    )
    assert {field.name for shape in shapes for field in fields(shape)} - told == set()
