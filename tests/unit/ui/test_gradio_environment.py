"""What Gradio is told before it is imported."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from coeval.settings import bare_environment

SHOW = "import coeval.ui, gradio.route_utils as g; print(g.DEFAULT_TEMP_DIR)"


def temporary_folder(**environment: str) -> Path:
    """Where Gradio puts its temporary files in a process that imports the screens."""
    known = bare_environment(**environment)
    if "GRADIO_TEMP_DIR" not in environment:
        known.pop("GRADIO_TEMP_DIR", None)
    told = subprocess.run([sys.executable, "-c", SHOW], env=known, capture_output=True, text=True, check=True)
    return Path(told.stdout.strip())


@pytest.mark.slow
def test_gradio_keeps_its_temporary_files_apart_from_those_of_other_users(tmp_path: Path) -> None:
    assert temporary_folder(TMPDIR=str(tmp_path)) == tmp_path / f"coeval-gradio-{os.getuid()}"
    assert temporary_folder(GRADIO_TEMP_DIR=str(tmp_path / "mine")) == tmp_path / "mine"
