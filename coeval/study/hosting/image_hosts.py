"""The hosts that images may come from: the owners' list, and what follows from it for an instance."""

from __future__ import annotations

import time
from dataclasses import dataclass
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from coeval.domain import Instance, Person, Task
from coeval.errors import CoevalError, InputError
from coeval.language import SOURCE, get_spoken, tr
from coeval.rules.columns.images import ImageError, find_images, is_allowed, is_host, read_image
from coeval.store import Database, Storage
from coeval.store.queries import image_hosts
from coeval.study.access import OWNERS, Context, use_case

MOST = 50
"""Hosts that a list may name: each makes the header of every page longer."""

KEPT_SECONDS = 5.0
"""How long a process goes by the list that it read last: another one may have changed it."""

_READ: WeakKeyDictionary[Storage, tuple[float, tuple[str, ...]]] = WeakKeyDictionary()


@dataclass(frozen=True, slots=True)
class ShownImage:
    """An image of an instance as people see it: ``source`` to show, or the ``problem`` in its place."""

    name: str
    source: str = ""
    problem: str = ""


@use_case(OWNERS)
def list_image_hosts(context: Context, person: Person) -> list[str]:
    """See which hosts images may come from."""
    with context.store.read() as db:
        return image_hosts.list_image_hosts(db)


@use_case(OWNERS)
def set_image_hosts(context: Context, person: Person, names: str) -> list[str]:
    """Choose which hosts images may come from, for every task.

    ``names`` are separated by spaces, commas or line ends; ``*.example.org`` stands for all below that name.

    Raises:
        InputError: a name is none of a host, or there are too many.
    """
    hosts = list(dict.fromkeys(_read_host(name) for name in names.replace(",", " ").split()))
    if len(hosts) > MOST:
        raise InputError(f"{len(hosts)} hosts are more than the {MOST} that fit: use *.example.org for many.")
    with context.store.write() as db:
        image_hosts.record_image_hosts(db, hosts, person.name)
    _READ.pop(context.store, None)
    return hosts


def get_page_hosts(context: Context) -> tuple[str, ...]:
    """The hosts that a page's header names; none where the database cannot be asked just now."""
    known = _READ.get(context.store)
    if known and time.monotonic() - known[0] < KEPT_SECONDS:
        return known[1]
    try:
        with context.store.read() as db:
            hosts = tuple(image_hosts.list_image_hosts(db))
    except CoevalError:
        return ()
    _READ[context.store] = time.monotonic(), hosts
    return hosts


def show_images(db: Database, task: Task, instance: Instance) -> tuple[ShownImage, ...]:
    """The images of an instance for people, with why one of them is not shown."""
    cells = find_images(instance, task.columns)
    if not cells:
        return ()
    allowed = frozenset(image_hosts.list_image_hosts(db))
    return tuple(_show(name, value, allowed) for name, value in cells.items())


def _show(name: str, value: str, allowed: frozenset[str]) -> ShownImage:
    try:
        image = read_image(name, value)
    except ImageError as error:
        # what is wrong with a cell is for those who brought it, who read English
        plain = tr("“{name}” cannot be shown: tell the people who run the study.", name=name)
        return ShownImage(name, problem=str(error) if get_spoken().code == SOURCE else plain)
    if image.host and not is_allowed(image.host, allowed):
        return ShownImage(
            name,
            problem=tr(
                "“{name}”: images from {host} are not shown here. An owner can allow this host in Set-up, under "
                "Hosting.",
                name=name,
                host=image.host,
            ),
        )
    return ShownImage(name, image.source)


def _read_host(text: str) -> str:
    """The host that somebody typed, or pasted as a whole address."""
    name = text.strip().lower()
    try:
        name = urlsplit(name).netloc if "://" in name else name.rstrip("/")
        plain = name.removeprefix("*.").encode("idna").decode("ascii")
    except ValueError:
        plain = ""
    if not is_host(plain):
        raise InputError(f"“{text[:80]}” is no host: write a name such as images.example.org.")
    return f"*.{plain}" if name.startswith("*.") else plain
