"""``python -m tests.benchmarks.parts.peak FILE ...``: ``python -m coeval ...``, with its most memory written to a file.

The peak that ``wait4`` gives for a process is at least the memory of the process that started it. A benchmark that has
made large files would give its own for a small command.
"""

from __future__ import annotations

import atexit
import runpy
import sys
from pathlib import Path

from tests.benchmarks.parts.memory import read_peak_mb

if __name__ == "__main__":
    told = Path(sys.argv.pop(1))
    atexit.register(lambda: told.write_text(f"{read_peak_mb():.1f}"))
    runpy.run_module("coeval", run_name="__main__", alter_sys=True)
