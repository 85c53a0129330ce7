"""Libraries that take seconds to load, loaded on first use, so that the server starts quickly.

Two of them loaded at once, Altair and ``scipy.optimize``, each add a tenth of an empty Gradio app's start to ours,
which is 1.20 of it; the goal is 1.2 (``python -m tests.benchmarks start``).
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any


class Later:
    """A module that is imported when one of its names is first used; the import is thread-safe."""

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

__all__ = ["FIRST", "FURTHER", "Later", "load_now", "optimize", "sparse", "special", "stats"]
"""``special`` has the quantiles of every interval and loads at once; ``stats`` takes a second, so only correlations of
values without ties ask for it."""

FIRST, FURTHER = ("sparse", "special"), ("stats",)
"""Functions for people's alphas, which load a third faster, and functions for later sections."""


def load_now(names: Sequence[str]) -> None:
    """Load modules before anybody waits for them: ``FIRST`` or ``FURTHER``."""
    for name in names:
        import_module(f"scipy.{name}")
