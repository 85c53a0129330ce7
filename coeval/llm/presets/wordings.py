"""Template folders by name: CoEval's own wordings after publications, beside any folder of the user's."""

from __future__ import annotations

from pathlib import Path

from coeval.errors import InputError

FOLDER = Path(__file__).resolve().parent / "templates"


def list_wordings() -> list[str]:
    """The names of the wordings that come with CoEval."""
    return sorted(path.name for path in FOLDER.iterdir() if path.is_dir())


def find_templates(name: str) -> Path | None:
    """The folder that ``--templates`` names: a wording of ours, or a folder of the user's; None for "".

    Raises:
        InputError: there is no such wording and no such folder.

    >>> find_templates("g-eval").name
    'g-eval'
    """
    if not name:
        return None
    if name in list_wordings():
        return FOLDER / name
    if not Path(name).is_dir():
        raise InputError(
            f"There is no folder of templates “{name[:200]}”: name a folder, or one of {', '.join(list_wordings())}."
        )
    return Path(name)
