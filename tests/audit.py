"""Known vulnerabilities of what is installed: ``python -m tests.audit``, by pip-audit.

Where the advisories cannot be reached, as on a machine without the public index, it says so and ends well: a
test run must not depend on somebody else's service. A vulnerability that was found ends it with 1.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

PATIENCE = 180


def ask() -> str:
    """What pip-audit found of this environment, as JSON; empty where it could not ask."""
    command = [sys.executable, "-m", "pip_audit", "--local", "--format", "json", "--progress-spinner", "off"]
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE).stdout
    except subprocess.TimeoutExpired:
        return ""


def read(report: str) -> tuple[list[str], int, int]:
    """The vulnerable packages in words, how many packages were looked up, and how many could not be."""
    try:
        packages: list[dict[str, Any]] = json.loads(report)["dependencies"]
    except (ValueError, KeyError, TypeError):
        return [], 0, 0
    found = [
        f"{one['name']} {one['version']}: {bad['id']}, fixed in {', '.join(bad['fix_versions']) or 'no release yet'}"
        for one in packages
        for bad in one.get("vulns", ())
    ]
    skipped = sum("skip_reason" in one for one in packages)
    return found, len(packages) - skipped, skipped


def main() -> int:
    found, asked, skipped = read(ask())
    if not asked:
        print("dependencies: not audited, the advisories cannot be reached from here")
        return 0
    print(f"dependencies: {asked} audited, {skipped} unknown to the advisories, {len(found)} vulnerabilities")
    for line in found:
        print(f"  {line}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
