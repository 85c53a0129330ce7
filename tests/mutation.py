"""``python -m tests.mutation ROOM``: which small mistakes in a room would no test notice?

mutmut changes one thing at a time (a sign, a comparison, a constant) in a copy of the project, and runs the room's
own tests and examples. What survives is printed as a difference: each is read, and gets a test, or a line in
``mutants.md`` that says why no test can tell it from the original. A room takes from a quarter of an hour to hours
on one core, so CI does not run it.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

ROOMS = {
    "rules": ("coeval/rules", "tests/unit/rules"),
    "agreement": ("coeval/stats/agreement", "tests/unit/stats"),
    "reading": ("coeval/llm/reading", "tests/unit/llm/reading"),
    "scrutiny": ("coeval/usecases/scrutiny", "tests/usecases/scrutiny"),
    "crowd": ("coeval/usecases/crowd", "tests/usecases/crowd"),
}
"""A room's name to its folder and to that of its tests."""

CONFIG = """
[tool.mutmut]
source_paths = ["coeval"]
only_mutate = [{only}]
also_copy = ["data"]
pytest_add_cli_args = ["-q", "-p", "no:cacheprovider", "-x"]
pytest_add_cli_args_test_selection = ["{tests}", "{folder}"]

[tool.pytest.ini_options]
addopts = "--doctest-modules"
pythonpath = ["."]
markers = ["slow: ", "browser: ", "journey: ", "sqlite: "]
"""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("room", choices=ROOMS)
    parser.add_argument("--only", metavar="FILE", help="one file of the room, such as ballots.py")
    options = parser.parse_args()
    folder, tests = ROOMS[options.room]
    with tempfile.TemporaryDirectory(prefix="coeval-mutants-") as name:
        copy = Path(name)
        for part in ("coeval", "tests", "data"):
            shutil.copytree(
                ROOT / part, copy / part, ignore=shutil.ignore_patterns("__pycache__", "node_modules")
            )
        if (ROOT.parent / "shared").is_dir():
            (copy / "shared").symlink_to(ROOT.parent / "shared")  # known answers, beside the repository
        only = f'"{folder}/{options.only or "*"}"'
        (copy / "pyproject.toml").write_text(CONFIG.format(only=only, tests=tests, folder=folder))
        code = _mutmut(copy, "run", "--max-children", "1").returncode
        survived = [
            line.split(":")[0].strip()
            for line in _mutmut(copy, "results", capture=True).stdout.splitlines()
            if line.strip().endswith("survived")
        ]
        for mutant in survived:
            print(_mutmut(copy, "show", mutant, capture=True).stdout)
    print(f"{len(survived)} survived")
    return code


def _mutmut(folder: Path, *arguments: str, capture: bool = False) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "mutmut", *arguments], cwd=folder, text=True, capture_output=capture
    )


if __name__ == "__main__":
    sys.exit(main())
