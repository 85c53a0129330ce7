"""``python -m coeval``: see :mod:`coeval.cli`."""

import os

from coeval.cli.commands import main
from coeval.settings import prepare_numpy

if __name__ == "__main__":
    # the database, exports and backups that a command makes are nobody else's to read
    os.umask(0o077)
    prepare_numpy()
    main()
