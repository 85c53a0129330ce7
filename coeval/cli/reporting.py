"""How a command tells that it could not do what was asked."""

from __future__ import annotations

import sys
from collections.abc import Callable

from coeval.errors import CoevalError


def reported(run: Callable[[], None]) -> None:
    """Run; an error of ours is one line on stderr and exit code 1."""
    try:
        run()
    except CoevalError as error:
        print(f"coeval: {error}", file=sys.stderr)
        raise SystemExit(1) from error
    except BrokenPipeError:
        raise SystemExit(1) from None
