"""``python -m coeval``: see :mod:`coeval.cli`."""

from coeval.cli.commands import main

if __name__ == "__main__":
    main()
