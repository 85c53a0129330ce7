"""What a run of drafting loads: pandas and what it brings are for statistics and tables, and cost 90 MB."""

from __future__ import annotations

import subprocess
import sys


def test_drafting_loads_no_pandas() -> None:
    code = "import sys, coeval.study.drafting.execution; print(*{'pandas', 'pyarrow', 'scipy'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
