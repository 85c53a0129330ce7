"""Saves one by one, for tests of what is read of them in columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from coeval.rules.screening import Saves


class Save(NamedTuple):
    """One evaluation as it stands; ``caught`` is None where nothing was planted."""

    person: str
    kept_all: bool
    bulk: bool
    seconds: float | None
    caught: bool | None = None


def in_columns(saves: Sequence[Save]) -> Saves:
    """The same, in the order given; people are numbered as they come."""
    number = {name: place for place, name in enumerate(dict.fromkeys(save.person for save in saves))}
    return Saves(
        names={place: name for name, place in number.items()},
        person=np.array([number[save.person] for save in saves], dtype=np.int64),
        kept_all=np.array([save.kept_all for save in saves], dtype=bool),
        bulk=np.array([save.bulk for save in saves], dtype=bool),
        seconds=np.array([save.seconds for save in saves], dtype=float),
        planted=np.array([save.caught is not None for save in saves], dtype=bool),
        caught=np.array([bool(save.caught) for save in saves], dtype=bool),
    )
