"""What ``stats --json`` said before: every name is still there, and every number.

The expected numbers were written by the code of 2026-11-20, before its rooms were moved, from two studies: the one
that the tests simulate, and the released ELI5 study. They are numbers alone, by
their place in the document. ``MENDED`` lists what was wrong and has changed since.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from coeval.settings import load_settings
from coeval.stats import build_report
from coeval.store import Store
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.reports.statistics import get_report
from coeval.usecases.study_import import import_file
from tests.support.studies.stats_frames import simulate_frames

DATA = Path(__file__).parents[2] / "data"
MENDED: dict[str, str] = {
    r"^/agreement/icc/ICC\([23],": "a singular value of nought was kept; the interval had the wrong degrees of freedom",
    r"/(ci_low|ci_high|se|p_value|p_values/\d+|rejected/\d+|winning_rate|t|df|p_two_sided|p_one_sided)$": (
        "intervals and tests took units that share a document, or an instance, for independent"
    ),
    r"/(p_below_667|p_below_800|replicates|replicates_left_out|n_swaps|exact|se_null|z)$": "likewise",
    r"^/agreement/pairwise/": "two people's scores of drafts with planted errors were left out, and counted elsewhere",
    r"^/actions/(overall|evidence)/": "headings with words before their colon were taken for lines",
    r"^/quotes/": "quotations that are nearly in the output, or in the input, are found since",
    r"^/alignment/.*epsilon$|^/alignment/epsilon$": "people whom nobody's link had brought were counted as crowd",
    r"/prediction_powered/": "likewise, and one judge was used where there are several",
}
"""Patterns of places whose numbers were wrong, and what was wrong with them."""

GONE = re.compile(r"^/alignment/competence/|/(conger|brennan_prediger)/|/ICC\((3,|1,k)")
"""Places of statistics that were deleted."""


def load_expected(name: str) -> dict[str, float | None]:
    expected: dict[str, float | None] = json.loads((DATA / name).read_text(encoding="utf-8"))
    return expected


def list_numbers(value: Any, path: str = "") -> Iterator[tuple[str, float | None]]:
    """Every number of a document, or None in its place, with where it stands."""
    if isinstance(value, dict):
        for key, entry in value.items():
            yield from list_numbers(entry, f"{path}/{key}")
    elif isinstance(value, list):
        for position, entry in enumerate(value):
            yield from list_numbers(entry, f"{path}/{position}")
    elif value is None or isinstance(value, (int, float)):
        yield path, value


def check_numbers(report: dict[str, Any], name: str) -> None:
    now = dict(list_numbers(report))
    expected = {path: value for path, value in load_expected(name).items() if not GONE.search(path)}
    assert len(expected) > 1_000
    gone = [path for path in expected if path not in now]
    assert not gone, f"{len(gone)} names are gone, among them {gone[:5]}"
    held = [path for path in expected if not any(re.search(pattern, path) for pattern in MENDED)]
    wrong = [
        (path, expected[path], now[path])
        for path in held
        if now[path]
        != (None if expected[path] is None else pytest.approx(expected[path], rel=1e-9, abs=1e-12))
    ]
    assert not wrong, f"{len(wrong)} of {len(held)} numbers differ, among them {wrong[:8]}"


def test_the_simulated_study() -> None:
    check_numbers(build_report(simulate_frames(), replicates=200), "stats_of_a_simulated_study.json")


@pytest.mark.slow
def test_the_released_study(tmp_path: Path, shared_data: Path) -> None:
    path = tmp_path / "eli5.db"
    context = Context(Store(path), load_settings({}, db=path))
    import_file(context, OPERATOR, shared_data / "coeval_release_eli5", "eli5")
    check_numbers(get_report(context, OPERATOR, "eli5"), "stats_of_eli5.json")
