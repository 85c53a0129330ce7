"""The output of commands: results as text or JSON, and errors."""

from __future__ import annotations

import argparse
import errno
import json
import math
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, NoReturn

from coeval.errors import CoevalError

INTERRUPTED = 130
"""The exit code after Ctrl+C: 128 plus the number of the signal, as in shells."""

NO_MEMORY = "there is not enough memory: allow this process more (“ulimit -v”), or close other programs."


def reported(run: Callable[[], None]) -> None:
    """Run a command; report our errors, Ctrl+C and system limits in one line on stderr."""
    try:
        run()
    except CoevalError as error:
        _end(str(error), 1)
    except KeyboardInterrupt:
        _end("interrupted by Ctrl+C.", INTERRUPTED)
    except MemoryError:
        _end(NO_MEMORY, 1)
    except (ImportError, SystemError) as error:
        # errors of libraries and of imports that run out of memory
        if "failed to map segment" not in str(error) and "without setting an exception" not in str(error):
            raise
        _end(NO_MEMORY, 1)
    except BrokenPipeError:
        raise SystemExit(1) from None
    except OSError as error:
        if error.errno not in (errno.EMFILE, errno.ENFILE):
            raise
        _end("too many files are open: allow this process more files (“ulimit -n 1024”).", 1)


def _end(text: str, code: int) -> NoReturn:
    print(f"coeval: {text}", file=sys.stderr)
    raise SystemExit(code) from None


def may_ask() -> bool:
    """Return whether somebody can answer a question on this terminal; a closed standard input is None."""
    return sys.stdin is not None and sys.stdin.isatty()


def build_reporting() -> argparse.ArgumentParser:
    """Return the option ``--json``, for the parsers of commands that call ``report``."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--json", action="store_true", help="print the result as one JSON document")
    return parser


@dataclass(frozen=True, slots=True)
class Parsers:
    """The parser's subcommands, and options that several commands share, for ``parents=``."""

    commands: argparse._SubParsersAction
    task: argparse.ArgumentParser
    """``--db`` and ``--task``."""
    task_reported: argparse.ArgumentParser
    """``--db``, ``--task`` and ``--json``."""
    common_reported: argparse.ArgumentParser
    """``--db`` and ``--json``."""
    study: argparse._SubParsersAction
    """The actions of ``study``."""


def report(options: argparse.Namespace, found: object, lines: Iterable[object]) -> None:
    """Print ``found`` as JSON if requested, else the lines."""
    if options.json:
        json.dump(_plain(found), sys.stdout, ensure_ascii=False, indent=1, allow_nan=False)
        print()
        return
    for line in lines:
        print(line)


def _plain(value: Any) -> Any:
    """Return the value in JSON types: fields by name, nan as null, other objects as text."""
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: _plain(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(entry) for entry in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, (bool, int)) else str(value)
