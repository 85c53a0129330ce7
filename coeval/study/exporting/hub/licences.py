"""The licences that a data set at the Hub can be given: the Hub's own identifiers, and where each is written out."""

from __future__ import annotations

from collections.abc import Mapping

from coeval.errors import InputError

LICENCES: Mapping[str, tuple[str, str]] = {
    "cc-by-4.0": ("Creative Commons Attribution 4.0", "https://creativecommons.org/licenses/by/4.0/"),
    "cc-by-sa-4.0": (
        "Creative Commons Attribution Share Alike 4.0",
        "https://creativecommons.org/licenses/by-sa/4.0/",
    ),
    "cc-by-nc-4.0": (
        "Creative Commons Attribution Non Commercial 4.0",
        "https://creativecommons.org/licenses/by-nc/4.0/",
    ),
    "cc-by-nc-sa-4.0": (
        "Creative Commons Attribution Non Commercial Share Alike 4.0",
        "https://creativecommons.org/licenses/by-nc-sa/4.0/",
    ),
    "cc0-1.0": ("Creative Commons Zero 1.0", "https://creativecommons.org/publicdomain/zero/1.0/"),
    "odc-by": ("Open Data Commons Attribution 1.0", "https://opendatacommons.org/licenses/by/1-0/"),
    "odbl": ("Open Database Licence 1.0", "https://opendatacommons.org/licenses/odbl/1-0/"),
    "mit": ("MIT", "https://opensource.org/license/mit"),
    "apache-2.0": ("Apache 2.0", "https://www.apache.org/licenses/LICENSE-2.0"),
    "other": ("another, stated by the owner", ""),
    "unknown": ("not stated", ""),
}
"""Identifier at the Hub -> title and address."""


def check_licence(name: str) -> str:
    """The identifier of a licence.

    Raises:
        InputError: it is none that the Hub knows.
    """
    if name in LICENCES:
        return name
    asked = f"“{name[:60]}” is no licence of the Hub" if name else "No licence was chosen"
    raise InputError(f"{asked}: choose one of {', '.join(LICENCES)}.")
