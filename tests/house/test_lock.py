"""The lock file: it covers what is required, at versions that are allowed, each with its hashes, from nowhere else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]
LOCK = (ROOT / "coeval" / "requirements.lock").read_text(encoding="utf-8")
PINS = dict(re.findall(r"^([a-z0-9][a-z0-9._-]*)==([^\s;\\]+)", LOCK, re.M))
REQUIRED = [
    Requirement(line)
    for line in (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    if line and not line.startswith(("#", "pytest"))
]


@pytest.mark.parametrize("required", REQUIRED, ids=str)
def test_what_is_required_is_locked(required: Requirement) -> None:
    pinned = PINS.get(required.name.replace("_", "-"))
    assert pinned and required.specifier.contains(pinned), (
        f"write the lock file anew: {LOCK.splitlines()[2:4]}"
    )


def test_every_pin_has_its_hashes_and_no_address() -> None:
    blocks = re.split(r"^(?=[a-z0-9])", LOCK, flags=re.M)[1:]
    assert len(blocks) == len(PINS) > 30
    assert all("--hash=sha256:" in block for block in blocks)
    assert "://" not in LOCK


def test_the_image_installs_the_lock_file_and_no_tests() -> None:
    dockerfile = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    assert "--require-hashes -r requirements.lock" in dockerfile and "pytest" not in PINS
