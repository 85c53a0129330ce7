"""A running server's reports: ``python -m tests.benchmarks.parts.report_fetch URL [TASK]``."""

from __future__ import annotations

import sys
import time

import httpx

OWNER = "Olu"
CHARTS = {
    "first chart": "agreement/alpha-by-criterion",
    "whole section": "agreement/actions",
    "what people changed": "changes/actions",
    "systems": "systems/systems",
}
"""What is asked for, in this order, by section and name of a chart."""


def fetch(url: str, task: str = "large") -> dict[str, float]:
    """Seconds until each of the charts' data is there; of those that the task has."""
    took = {}
    with httpx.Client(base_url=url, timeout=1200) as browser:
        browser.post("/signin", data={"name": OWNER})
        for name, chart in CHARTS.items():
            started = time.perf_counter()
            answer = browser.get(f"/download/{task}/charts/{chart}.csv")
            if answer.status_code == 404:
                continue
            answer.raise_for_status()
            took[name] = time.perf_counter() - started
    return took


if __name__ == "__main__":
    for name, seconds in fetch(*sys.argv[1:]).items():
        print(f"{name}: {seconds:.1f} s")
