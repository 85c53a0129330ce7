"""The audit of dependencies reads what pip-audit says, and tells silence from a clean bill."""

from __future__ import annotations

import json

import pytest

from tests import audit

CLEAN = {"name": "a", "version": "1", "vulns": []}
BAD = {"name": "b", "version": "2", "vulns": [{"id": "PYSEC-1", "fix_versions": ["2.1"], "aliases": []}]}
UNKNOWN = {"name": "c", "skip_reason": "not found"}


def report(*packages: dict[str, object]) -> str:
    return json.dumps({"dependencies": packages, "fixes": []})


@pytest.mark.parametrize(
    ("said", "code", "shown"),
    [
        (report(CLEAN, UNKNOWN), 0, "1 audited, 1 unknown to the advisories, 0 vulnerabilities"),
        (report(CLEAN, BAD), 1, "b 2: PYSEC-1, fixed in 2.1"),
        (report(UNKNOWN, UNKNOWN), 0, "not audited"),
        ("", 0, "not audited"),
        ("no JSON", 0, "not audited"),
    ],
)
def test_what_is_said(
    said: str, code: int, shown: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(audit, "ask", lambda: said)
    assert audit.main() == code
    assert shown in capsys.readouterr().out
