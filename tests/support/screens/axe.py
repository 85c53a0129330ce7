"""What axe finds on a page, in the light and in the dark."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Page


PANEL = "() => [...document.querySelectorAll('[role=tabpanel]')].find((panel) => panel.checkVisibility())"
"""The tab in view. To look at it alone takes a fraction of the time, because all tabs of a page are in it."""


def faults(page: Page, theme: str = "light", within: str = "() => document") -> list[str]:
    """What axe calls serious or critical, with the nodes it names; in the dark only what depends on colours.

    ``within`` is a function in JavaScript that returns the part to look at.
    """
    axe = pytest.importorskip("axe_core_python.sync_playwright", reason="pip install axe-core-python").Axe()
    if page.evaluate("!window.axe"):
        page.evaluate(axe.axe_script)
    options: dict[str, Any] = {"resultTypes": ["violations"]}
    if theme == "dark":
        options["runOnly"] = {"type": "rule", "values": ["color-contrast"]}
    script = f"(options) => axe.run(({within})(), options).then((told) => told.violations)"
    violations: list[dict[str, Any]] = page.evaluate(script, options)
    return [
        f"{rule['id']}: {[node['html'][:120] for node in rule['nodes'][:3]]}"
        for rule in violations
        if rule["impact"] in ("serious", "critical")
    ]


def faults_in_both_themes(page: Page, within: str = "() => document") -> list[str]:
    """Those of the page in the light, then in the dark: colours follow the system while a page is open."""
    told = faults(page, within=within)
    turn(page, "dark")
    told += faults(page, "dark", within)
    turn(page, "light")
    return told


def turn(page: Page, theme: Literal["light", "dark"]) -> None:
    """Have the system's theme change, and wait until Gradio has followed and no colour is on its way any more."""
    page.emulate_media(color_scheme=theme)
    followed = (
        "(dark) => (!window.gradio_config || document.body.classList.contains('dark') === dark)"
        " && !document.getAnimations().some((one) => one instanceof CSSTransition)"
    )
    page.wait_for_function(followed, arg=theme == "dark")
