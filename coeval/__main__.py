"""``python -m coeval``: see :mod:`coeval.cli`."""

import os

from coeval.cli.results import reported
from coeval.settings import prepare_numpy


def _run() -> None:
    # the database, exports and backups that a command makes are nobody else's to read
    os.umask(0o077)
    prepare_numpy()
    # imported late: this takes a moment, in which somebody may press Ctrl+C
    from coeval.cli.commands import main

    main()


if __name__ == "__main__":
    reported(_run)
