"""What an export gives, as a reader of CSV sees it."""

from __future__ import annotations

import csv
import io

from coeval.domain import Person
from coeval.usecases.access import Context
from coeval.usecases.export import export_table


def read_export(context: Context, person: Person, name: str) -> list[dict[str, str]]:
    """Return the rows of one file of the study "demo"."""
    csv.field_size_limit(1_000_000)
    target = io.StringIO(newline="")
    export_table(context, person, "demo", name, target)
    return list(csv.DictReader(io.StringIO(target.getvalue().lstrip("\ufeff"))))
