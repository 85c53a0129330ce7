"""What is loaded before it is needed: libraries that take memory or seconds wait for the first use."""

from __future__ import annotations

import subprocess
import sys

import pytest


def loaded(module: str, libraries: set[str]) -> list[str]:
    """Those of the libraries that a new Python holds once it has imported the module."""
    code = f"import sys, {module}; print(*{libraries} & set(sys.modules))"
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()


def test_drafting_loads_nothing_of_statistics() -> None:
    assert loaded("coeval.usecases.drafting.execution", {"coeval.stats", "scipy"}) == []


@pytest.mark.slow
def test_the_server_starts_without_what_only_some_visitors_need() -> None:
    """SciPy would add a tenth of the time in which an empty Gradio app starts."""
    assert (
        loaded(
            "coeval.ui.run",
            {"scipy.special", "scipy.sparse", "openai", "sacrebleu", "openpyxl", "psycopg", "jwt"},
        )
        == []
    )
