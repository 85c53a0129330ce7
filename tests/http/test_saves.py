"""The fast part of ``python -m tests.benchmarks saves``: through the real server, no save is refused or lost."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.benchmarks import saves

pytestmark = pytest.mark.slow


def test_a_few_people_flat_out_lose_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(saves, "SETTLE_SECONDS", 0.0)
    path = tmp_path / "c.db"
    saves.make_file(path, documents=20)
    saves.add_volume(path, 200)
    row = asyncio.run(saves.run_case(path, people=8, seconds=2, pace=0.0))
    assert row["confirms"] > 8 and (row["errors"], row["lost"]) == (0, 0), row["first error"]
    assert saves.list_missed([row | {"errors": 1, "pace": "flat out", "per second": 1.0}], []) == [
        "sqlite: 1.0 a second flat out, at least 300",
        "1 saves lost or refused, at most 0",
    ]
