"""Preview and import data sets of the Hub; preview a study and send it there after confirmation."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from coeval.datasets import Preview, preview
from coeval.domain import Person
from coeval.errors import InputError
from coeval.extensions.hub.address import START, HubAddress, choose_part, parse_address
from coeval.extensions.hub.card import Facts, check_licence, render_card
from coeval.extensions.hub.client import Hub, Listing, Sent, look_before, send_files
from coeval.extensions.hub.content import list_examples, write_content
from coeval.extensions.hub.study_tables import CARD, CONFIGS, STUDY, file_of
from coeval.usecases.access import OWNERS, Context, require_task, use_case
from coeval.usecases.reports.statistics import get_paper_tables, get_report
from coeval.usecases.study_import import USUAL, ImportOptions, ImportReport, Origin, import_checked


def open_hub(context: Context) -> Hub:
    """Return a client for the Hub and token in the settings."""
    return Hub(context.settings.snapshots.endpoint, context.settings.snapshots.token)


@use_case(OWNERS)
def look_at_hub(context: Context, person: Person, address: str) -> Listing:
    """Return the parts of a data set on the Hugging Face Hub, and its commit.

    Raises:
        InputError: the data set does not exist, or is not accessible.
    """
    asked = parse_address(address)
    return open_hub(context).look(asked.repo, asked.revision)


@use_case(OWNERS)
def preview_hub(context: Context, person: Person, address: str) -> Preview:
    """Return a preview of a part of a data set on the Hugging Face Hub.

    Raises:
        InputError: the part cannot be fetched or read.
    """
    with _fetched(context, address) as (path, _):
        return preview(path)


@use_case(OWNERS)
def import_hub(
    context: Context, person: Person, address: str, slug: str, options: ImportOptions = USUAL
) -> ImportReport:
    """Import a part of a data set from the Hugging Face Hub; the task records the commit.

    Raises:
        InputError: the part cannot be fetched or used. Nothing was written.
    """
    with _fetched(context, address) as (path, origin):
        report = import_checked(
            context, person, options.open(path, slug), options,
            Origin(str(replace(origin, revision="")), origin.revision),
        )  # fmt: skip
    report.notes.append(f"Read from {origin}.")
    return report


@contextmanager
def _fetched(context: Context, address: str) -> Iterator[tuple[Path, HubAddress]]:
    """Download the files of a part temporarily; yield them with the part's address and commit."""
    asked, hub = parse_address(address), open_hub(context)
    listing = hub.look(asked.repo, asked.revision)
    # a published study has several tables: if the address names no part, import all of them
    whole = listing.is_ours and not asked.config
    part = listing.study if whole else choose_part(listing.parts, asked)
    with TemporaryDirectory(prefix="coeval-hub-") as folder:
        yield hub.fetch(listing, part, Path(folder)), listing.address(part)


FILES = (CARD, STUDY, *map(file_of, CONFIGS))


@dataclass(frozen=True, slots=True)
class Target:
    """The target for a study: OWNER/NAME or an address, the licence, and the visibility."""

    name: str
    licence: str
    private: bool = True
    """True to make a new data set private. An existing data set keeps its visibility, and must then be
    private.
    """


@dataclass(frozen=True, slots=True)
class Leaving:
    """The preview of a study; ``digest`` covers every byte of it."""

    repo: str
    standing: str
    """A sentence about an existing data set with that name."""
    counts: Mapping[str, int]
    sizes: Mapping[str, int]
    """Bytes of each file."""
    texts: Sequence[str]
    """Sentences about the texts to send."""
    ids: Sequence[str]
    """Sentences about the names of instances and people."""
    examples: Sequence[str]
    """The first texts that people wrote."""
    digest: str


@dataclass(frozen=True, slots=True)
class Pushed:
    """The result of sending a study."""

    repo: str
    sent: Sent
    address: str
    """The address of the data set at this commit, for an import."""
    page: str

    def __str__(self) -> str:
        if not self.sent.changed:
            return (
                f"{self.repo} already contains all of it, at commit {self.sent.revision[:12]}: nothing "
                "was changed."
            )
        made = "A new data set was created. " if self.sent.created else ""
        return f"{made}{self.repo} contains the study at commit {self.sent.revision[:12]}."


@use_case(OWNERS)
def preview_push(context: Context, person: Person, slug: str, target: Target) -> Leaving:
    """Return a preview of the data that would be sent to the Hugging Face Hub.

    Raises:
        InputError: the name or the licence is invalid, or the data set cannot be changed.
    """
    repo, hub = _check(context, slug, target), open_hub(context)
    standing = look_before(hub, repo)
    if standing is not None and target.private and not standing.private:
        raise InputError(f"{repo} is public: choose public visibility, or another name. Nothing was sent.")
    with _written(context, person, slug, repo, target.licence) as (facts, folder):
        content = facts.content
        n = content.counts
        further = f", and other columns: {', '.join(content.fields)}" if content.fields else ""
        named = (
            (
                f" {content.naming:,} of them contain the name of a person in the study: read these before "
                "you send them."
            )
            if content.naming
            else ""
        )
        return Leaving(
            repo=repo,
            standing=(
                "The token sees no such data set: a new one will be created, "
                + ("private." if target.private else "public.")
                if standing is None
                else f"The data set exists, {'private' if standing.private else 'public'}, at commit "
                f"{standing.revision[:12]}: files with these names are replaced, and all others are kept."
            ),
            counts=n,
            sizes={name: (folder / name).stat().st_size for name in FILES},
            texts=[
                f"The inputs, outputs and references of {n['instances']:,} instances{further}.",
                "The task's name, description and guidelines, and its criteria with their guides.",
                f"{n['drafts']:,} drafts, line by line, with the models' own words.",
                f"{len(content.comments):,} texts that people wrote: reasons, wordings, added lines. They "
                f"are sent unchanged.{named}"
                if content.comments
                else "People have written nothing yet.",
            ],
            ids=[
                "The ids of instances, documents and systems, as they were imported, and the labels of runs.",
                f"{facts.people} Names, e-mail addresses and ids at crowd services are not sent.",
            ],
            examples=list_examples(content.comments),
            digest=_digest(folder),
        )


@use_case(OWNERS)
def push_study(
    context: Context, person: Person, slug: str, target: Target, *, confirmed: str, digest: str
) -> Pushed:
    """Send the previewed study to the Hugging Face Hub; ``confirmed`` must be the data set's full name.

    Raises:
        InputError: the name is missing, the study has changed since the preview, or the Hub refuses. The data
        set is then unchanged.
    """
    repo, hub = _check(context, slug, target), open_hub(context)
    if confirmed.strip() != repo:
        raise InputError(f"Type the full name of the data set, {repo}, to send the study. Nothing was sent.")
    with _written(context, person, slug, repo, target.licence) as (facts, folder):
        if _digest(folder) != digest:
            raise InputError(
                f"“{slug}” or the licence has changed since the preview: look at the preview again. "
                "Nothing was sent."
            )
        paths = [folder / name for name in FILES]
        sent = send_files(
            hub, repo, paths, private=target.private, message="The current state of the study, sent by CoEval"
        )
    return Pushed(repo, sent, f"{START}{repo}@{sent.revision}", f"{hub.endpoint}/datasets/{repo}")


def _check(context: Context, slug: str, target: Target) -> str:
    """Return the data set's name if a study may be published there."""
    with context.store.read() as db:
        require_task(db, slug)
    asked = parse_address(target.name)
    if asked.revision or asked.config:
        raise InputError(f"A study needs a data set of its own: write {START}{asked.repo}.")
    if asked.repo == context.settings.snapshots.repo:
        raise InputError(
            f"{asked.repo} contains the snapshots of this database: choose another name for the study."
        )
    check_licence(target.licence)
    return asked.repo


@contextmanager
def _written(
    context: Context, person: Person, slug: str, repo: str, licence: str
) -> Iterator[tuple[Facts, Path]]:
    """Yield a temporary folder with every file to send."""
    with TemporaryDirectory(prefix="coeval-hub-") as name:
        folder = Path(name)
        with context.store.read() as db:
            content = write_content(db, slug, folder)
        if not content.study.instances:
            raise InputError(f"“{slug}” has no instances yet: import some first.")
        methods, agreement = "", {}
        if any(each.score is not None for each in content.study.submissions):
            methods = str(get_paper_tables(context, person, slug)["methods.md"]).strip()
            agreement = get_report(context, person, slug)["agreement"]
        facts = Facts(repo, licence, content, methods, agreement)
        (folder / CARD).write_text(render_card(facts), encoding="utf-8")
        yield facts, folder


def _digest(folder: Path) -> str:
    files = (hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in FILES)
    return hashlib.sha256("".join(files).encode()).hexdigest()
