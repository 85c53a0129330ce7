"""Allowed image hosts: the owners' list, and its effect on instances."""

from __future__ import annotations

import time
from dataclasses import dataclass
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from coeval.domain import Instance, Person, Task
from coeval.errors import CoevalError, InputError
from coeval.language import SOURCE, get_spoken, tr
from coeval.rules.column_roles import ImageError, find_images, is_allowed, is_host, read_image
from coeval.store import Database, Storage
from coeval.store.queries import tasks
from coeval.usecases.access import OWNERS, Context, use_case

MOST = 50
"""The largest number of hosts in a list, because each host lengthens the header of every page."""

KEPT_SECONDS = 5.0
"""Seconds for which a process uses its cached list; another process may change the list meanwhile."""

_READ: WeakKeyDictionary[Storage, tuple[float, tuple[str, ...]]] = WeakKeyDictionary()


@dataclass(frozen=True, slots=True)
class ShownImage:
    """An image of an instance: the ``source`` to show, or the ``problem``."""

    name: str
    source: str = ""
    problem: str = ""


@use_case(OWNERS)
def list_image_hosts(context: Context, person: Person) -> list[str]:
    """Return the image hosts that are allowed."""
    with context.store.read() as db:
        return tasks.list_image_hosts(db)


@use_case(OWNERS)
def set_image_hosts(context: Context, person: Person, names: str) -> list[str]:
    """Set the allowed image hosts for every task.

    ``names`` are separated by spaces, commas or line breaks; ``*.example.org`` allows all its subdomains.

    Raises:
        InputError: a name is not a host name, or there are too many.
    """
    hosts = list(dict.fromkeys(_read_host(name) for name in names.replace(",", " ").split()))
    if len(hosts) > MOST:
        raise InputError(f"{len(hosts)} hosts are too many: list at most {MOST}, or use *.example.org.")
    with context.store.write() as db:
        tasks.record_image_hosts(db, hosts, person.name)
    _READ.pop(context.store, None)
    return hosts


def get_page_hosts(context: Context) -> tuple[str, ...]:
    """Return the hosts for a page's header; none if the database cannot be reached."""
    cached = _READ.get(context.store)
    if cached and time.monotonic() - cached[0] < KEPT_SECONDS:
        return cached[1]
    try:
        with context.store.read() as db:
            hosts = tuple(tasks.list_image_hosts(db))
    except CoevalError:
        return ()
    _READ[context.store] = time.monotonic(), hosts
    return hosts


def show_images(db: Database, task: Task, instance: Instance) -> tuple[ShownImage, ...]:
    """Return the images of an instance, each with its source or the reason that it is not shown."""
    cells = find_images(instance, task.columns)
    if not cells:
        return ()
    allowed = frozenset(tasks.list_image_hosts(db))
    return tuple(_show(name, value, allowed) for name, value in cells.items())


def _show(name: str, value: str, allowed: frozenset[str]) -> ShownImage:
    try:
        image = read_image(name, value)
    except ImageError as error:
        # errors in a cell are for the owners, who read English
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
    """Return the host name from a typed name or a pasted address."""
    name = text.strip().lower()
    try:
        name = urlsplit(name).netloc if "://" in name else name.rstrip("/")
        plain = name.removeprefix("*.").encode("idna").decode("ascii")
    except ValueError:
        plain = ""
    if not is_host(plain):
        raise InputError(f"“{text[:80]}” is not a host name: write a name such as images.example.org.")
    return f"*.{plain}" if name.startswith("*.") else plain
