"""What a process, and those that it started, hold in memory."""

from __future__ import annotations

import os
from pathlib import Path

PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
STATUS = Path("/proc/self/status")


def read_peak_mb(status: str = "") -> float:
    """The most memory that a process has held, in MB, from its /proc/self/status (Linux)."""
    lines = (status or STATUS.read_text()).splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


def measure_memory(pid: int) -> float:
    """Megabytes that a process holds now, that it shares with nobody or with others."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * PAGE_BYTES / 1e6


def measure_helpers(pid: int) -> float:
    """Megabytes of the processes that it started, together."""
    total = 0.0
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(path.read_text().rpartition(")")[2].split()[1])
            if parent == pid:
                total += measure_memory(int(path.parent.name))
        except OSError:  # it has ended meanwhile
            continue
    return total
