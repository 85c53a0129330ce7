"""Entry point of ``python -m coeval``. The commands are in :mod:`coeval.cli`."""

import os

from coeval.cli.results import reported
from coeval.settings import prepare_numpy


def _run() -> None:
    # only the user who runs a command may read the database, exports and backups that it creates
    os.umask(0o077)
    prepare_numpy()
    # imported late, because it takes a moment in which somebody may press Ctrl+C
    from coeval.cli.commands import main

    main()


if __name__ == "__main__":
    reported(_run)
