"""Libraries that take seconds to load, loaded when first used: the server answers before anybody asks for them.

Two of them loaded at once, Altair and ``scipy.optimize``, each add a tenth of an empty Gradio app's start to ours,
which is 1.18 of it; the goal is 1.2 (``python -m tests.benchmarks start``).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any


class Later:
    """A module that is imported at the first look at one of its names; imports are safe over threads."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self._name), name)


if TYPE_CHECKING:
    from scipy import optimize, sparse, special, stats
else:
    optimize, sparse, special, stats = (
        Later(f"scipy.{name}") for name in ("optimize", "sparse", "special", "stats")
    )

__all__ = ["Later", "load_now", "optimize", "sparse", "special", "stats"]
"""``special`` has the quantiles of every interval and loads at once; ``stats`` takes a second, so only correlations of
values without ties ask for it."""


def load_now() -> None:
    """Load what the alphas of people need, before anybody waits for them: it is a third of the first chart's time."""
    for name in ("sparse", "special"):
        import_module(f"scipy.{name}")
