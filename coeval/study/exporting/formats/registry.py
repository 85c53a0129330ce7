"""Every format for other tools. A new one is a file with its ``FORMAT``, and a line here."""

from __future__ import annotations

from coeval.errors import InputError
from coeval.study.exporting.formats import (
    every_eval_ever,
    inspect_edits,
    label_studio,
    preferences,
    reward_model,
)
from coeval.study.exporting.formats.format import OutFormat

OUT_FORMATS: tuple[OutFormat, ...] = (
    every_eval_ever.FORMAT,
    preferences.FORMAT,
    reward_model.FORMAT,
    label_studio.FORMAT,
    inspect_edits.FORMAT,
)

NAMES = tuple(each.name for each in OUT_FORMATS)
"""What ``--as`` may be."""


def get_out_format(name: str) -> OutFormat:
    """The format of that name.

    Raises:
        InputError: there is none.
    """
    for each in OUT_FORMATS:
        if each.name == name:
            return each
    raise InputError(f"“{name[:80]}” is not a format to export as; the formats are {', '.join(NAMES)}.")
