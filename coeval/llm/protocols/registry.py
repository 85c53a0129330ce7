"""Every protocol by its name: those of this folder and the folders in it, and those that anybody registers."""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import TypeVar

import coeval.llm.protocols
from coeval.errors import InputError
from coeval.llm.protocols.protocol import Brief, Protocol

ENTRY_POINTS = "coeval.protocols"
"""The group under which an installed package names modules that register protocols of its own."""

FIRST = "coeval"
"""The protocol that is listed first, and used where nobody chose."""

P = TypeVar("P", bound=type[Protocol])
_REGISTERED: dict[str, type[Protocol]] = {}


def register(protocol: P) -> P:
    """Make a protocol known by its name; a class decorator."""
    _REGISTERED[protocol.name] = protocol
    return protocol


def list_protocols() -> Mapping[str, type[Protocol]]:
    """Every protocol by its name, CoEval's own first, the others in the order of their names."""
    _load()
    return dict(sorted(_REGISTERED.items(), key=lambda pair: (pair[0] != FIRST, pair[0])))


def get_protocol(name: str) -> type[Protocol]:
    """The protocol of this name.

    Raises:
        InputError: there is none; the message names those there are.
    """
    protocols = list_protocols()
    if name not in protocols:
        raise InputError(f"There is no protocol {name!r}: use one of {', '.join(protocols)}.")
    return protocols[name]


def build_protocol(brief: Brief) -> Protocol:
    """The protocol that the brief's options name, ready to judge.

    Raises:
        InputError: there is no such protocol, or it cannot take so many samples.
    """
    return get_protocol(brief.options.protocol)(brief)


@cache
def _load() -> None:
    """Import every file of this folder and of those in it, and what installed packages add."""
    for module in pkgutil.walk_packages(coeval.llm.protocols.__path__, f"{coeval.llm.protocols.__name__}."):
        import_module(module.name)
    for entry in entry_points(group=ENTRY_POINTS):
        entry.load()
