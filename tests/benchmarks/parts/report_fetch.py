"""A running server's reports: ``python -m tests.benchmarks.parts.report_fetch URL [TASK]``."""

from __future__ import annotations

import sys
import time

import httpx

from tests.support.serving.http_page import Page

OWNER = "Olu"
SECTIONS = ("agreement", "changes", "systems")
"""Sections of the tab, in the order in which they are opened."""


def fetch(url: str, task: str = "large") -> dict[str, float]:
    """Return the seconds until each section of the task's report is whole."""
    took = {}
    with httpx.Client(base_url=url, timeout=1200) as browser:
        browser.post("/signin", data={"name": OWNER})
        page = Page(browser, "", browser.get("/config").json())
        page.fire("", "load")
        for section in SECTIONS:
            page.put({"task-picker": task, "agreement-section": section})
            started = time.perf_counter()
            answer = page.fire("agreement-section", "input")
            if answer.status != 200:
                raise RuntimeError(f"{section}: {answer.text[:300]}")
            took[section] = time.perf_counter() - started
    return took


if __name__ == "__main__":
    for name, seconds in fetch(*sys.argv[1:]).items():
        print(f"{name}: {seconds:.1f} s")
