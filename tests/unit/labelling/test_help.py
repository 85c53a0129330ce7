"""The help page names every key of the JSON that the commands print."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import coeval.extensions.labelling
from coeval.extensions.labelling.criterion_worth import CriterionWorth, Worth
from coeval.extensions.labelling.design import DrawnRow, Labelling, Option
from coeval.extensions.labelling.study_units import CorrectedStudy, CorrectedSystem


def test_every_key_is_documented() -> None:
    page = Path(coeval.extensions.labelling.__file__).with_name("help.md").read_text(encoding="utf-8")
    told = {
        key for line in page.splitlines() if line.startswith("| ") for key in re.findall(r"`([a-z_]+)`", line)
    }
    shapes = (CriterionWorth, Worth, DrawnRow, Labelling, Option, CorrectedStudy, CorrectedSystem)
    assert {field.name for shape in shapes for field in fields(shape)} - told == set()
