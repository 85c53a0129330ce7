"""Runs one benchmark by name: ``python -m tests.benchmarks NAME [options]``; lists them when none is named."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

HERE = Path(__file__).parent
MODULES = {
    path.stem: ".".join(("tests.benchmarks", *path.relative_to(HERE).with_suffix("").parts))
    for path in (*HERE.glob("*.py"), *HERE.glob("judges/*.py"))
    if not path.stem.startswith("_")
}


def main(argv: list[str]) -> int:
    if not argv or argv[0] not in MODULES:
        named = f"There is no benchmark {argv[0]!r}. " if argv else ""
        print(f"{named}Name one of: {', '.join(sorted(MODULES))}.", file=sys.stderr)
        return 2
    return importlib.import_module(MODULES[argv[0]]).main(argv[1:]) or 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
