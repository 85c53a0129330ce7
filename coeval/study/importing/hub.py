"""Instances from data sets of the Hugging Face Hub: found, looked at, imported with the commit they were read at."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from coeval.datasets import Preview, preview
from coeval.datasets.hub.address import HubAddress, parse_address
from coeval.datasets.hub.client import Hub, Listing
from coeval.datasets.hub.layout import choose_part
from coeval.domain import Person, TaskSource
from coeval.store.queries import sources
from coeval.study.access import OWNERS, Context, require_task, use_case
from coeval.study.importing.import_options import USUAL, ImportOptions
from coeval.study.importing.importing import ImportReport, import_checked


def open_hub(context: Context) -> Hub:
    """The Hub that the settings name, with their token."""
    return Hub(context.settings.snapshots.endpoint, context.settings.snapshots.token)


@use_case(OWNERS)
def search_hub(context: Context, person: Person, words: str) -> list[str]:
    """Search the Hugging Face Hub for data sets.

    Raises:
        InputError: the Hub cannot be asked.
    """
    return open_hub(context).search(words)


@use_case(OWNERS)
def look_at_hub(context: Context, person: Person, address: str) -> Listing:
    """See which parts a data set of the Hugging Face Hub has, and at which commit it stands.

    Raises:
        InputError: the address names no data set that can be seen.
    """
    asked = parse_address(address)
    return open_hub(context).look(asked.repo, asked.revision)


@use_case(OWNERS)
def preview_hub(context: Context, person: Person, address: str) -> Preview:
    """Look at a part of a data set of the Hugging Face Hub before it is imported.

    Raises:
        InputError: the part cannot be fetched, or not be read.
    """
    with _fetched(context, address) as (path, _):
        return preview(path)


@use_case(OWNERS)
def import_hub(
    context: Context, person: Person, address: str, slug: str, options: ImportOptions = USUAL
) -> ImportReport:
    """Import a part of a data set of the Hugging Face Hub; the commit is kept with the task.

    Raises:
        InputError: the part cannot be fetched, or not be used. Nothing was written.
    """
    with _fetched(context, address) as (path, origin):
        report = import_checked(context, person, options.open(path, slug), options, origin)
    report.notes.append(f"Read from {origin}.")
    return report


@use_case(OWNERS)
def list_sources(context: Context, person: Person, slug: str) -> list[TaskSource]:
    """See which data sets a task's instances were read from, and at which commits."""
    with context.store.read() as db:
        return sources.list_sources(db, require_task(db, slug).id)


@contextmanager
def _fetched(context: Context, address: str) -> Iterator[tuple[Path, HubAddress]]:
    """The files of a part, for as long as they are read, and the part's address with its commit."""
    asked, hub = parse_address(address), open_hub(context)
    listing = hub.look(asked.repo, asked.revision)
    # a study of ours is more than a table: without a part's name all of it is meant
    whole = listing.is_ours and not asked.config
    part = listing.study if whole else choose_part(listing.parts, asked)
    with TemporaryDirectory(prefix="coeval-hub-") as folder:
        yield hub.fetch(listing, part, Path(folder)), listing.address(part)
