"""The help pages explain every key that reports of labels and facets print with ``--json``."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import pytest

from coeval.cli.commands import main
from coeval.extensions.facets.links import Links, Part
from coeval.extensions.facets.rasch import Separation
from coeval.extensions.facets.ruler import Effect, Element, FairSystem, Ruler
from coeval.extensions.labelling.design import DrawnRow, Labelling, Option
from coeval.extensions.labelling.study_units import CorrectedStudy, CorrectedSystem
from coeval.stats.estimates import PRINTED as DETAILS
from coeval.ui.server.plain_pages import FILES
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.study_import import import_study
from tests.support.studies.labelled_study import make_labelled_study

SHAPES = {
    "facets": (Links, Part, Effect, Element, FairSystem, Ruler, Separation),
    "labelling": (DrawnRow, Labelling, Option, CorrectedStudy, CorrectedSystem),
}  # fmt: skip

PRINTED = {
    "facets": (["facets", "ruler"], ["facets", "links"]),
    "labelling": (
        ["labelling", "corrected"],
        ["labelling", "design", "--draw", "active", "--labels", "20", "--explain", "length"],
    ),
}


def list_explained(page: str) -> set[str]:
    """Return the keys in the lists of a help page, and those of estimates."""
    pages = (FILES[page], FILES["numbers"])
    lines = [line for path in pages for line in path.read_text(encoding="utf-8").splitlines()]
    return {key for line in lines if line.startswith("- `") for key in re.findall(r"`([a-z_0-9]+)`", line)}


def list_keys(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, entry in value.items():
            yield key
            yield from list_keys(entry)
    if isinstance(value, list):
        for entry in value:
            yield from list_keys(entry)


@pytest.mark.parametrize("page", SHAPES)
def test_every_field_is_explained(page: str) -> None:
    assert {field.name for shape in SHAPES[page] for field in fields(shape)} - list_explained(page) == set()


@pytest.mark.sqlite
@pytest.mark.parametrize("page", PRINTED)
def test_every_printed_key_is_explained(
    page: str, context: Context, capsys: pytest.CaptureFixture[str]
) -> None:
    import_study(context, OPERATOR, make_labelled_study())
    for command in PRINTED[page]:
        main([*command, "--task", "labels", "--db", context.store.address, "--json"])
        printed = set(list_keys(json.loads(capsys.readouterr().out)))
        assert len(printed) > 2 and printed - list_explained(page) == set(), command


def test_every_detail_of_an_estimate_is_explained() -> None:
    """Also those of scales and studies that the printed one does not have."""
    assert set(DETAILS) - list_explained("labelling") == set()
