"""sqlite_utils without pandas, which it loads only for types that CoEval does not store.

With pandas a pre-fill takes 107 MB above the interpreter, without it 62; the goal is 90
(``python -m tests.benchmarks prefill``). ``coeval.store`` imports this before anything else of sqlite_utils.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def _without(*names: str) -> Iterator[None]:
    """Make modules that are not loaded yet look as if they were not installed."""
    hidden = [name for name in names if name not in sys.modules]
    sys.modules.update(dict.fromkeys(hidden))  # type: ignore[arg-type]
    try:
        yield
    finally:
        for name in hidden:
            del sys.modules[name]


with _without("pandas", "numpy"):
    from sqlite_utils import Database

__all__ = ["Database"]
