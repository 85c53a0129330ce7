"""Files sent to a data set of the Hub: what stands there before, and one commit of what is new."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from coeval.datasets.hub.client import Hub, Listing, get_status
from coeval.errors import InputError

STORES = ("amazonaws.com",)
"""Where the Hub has large files sent, by addresses that it signs; its token does not go there."""

OWN_BY_HUB = frozenset((".gitattributes",))
"""What the Hub puts into a new data set by itself."""


@dataclass(frozen=True, slots=True)
class Sent:
    """What a sending came to."""

    revision: str
    """The commit at which the data set holds the files."""
    changed: bool
    """Whether there is a new commit."""
    created: bool
    """Whether the data set is new."""


def look_before(hub: Hub, repo: str) -> Listing | None:
    """The data set as it stands; None where there is none that the token may see.

    Raises:
        InputError: there is no token, it is refused, the Hub cannot be asked, or the data set is not one of ours.
    """
    if not hub.has_token:
        raise InputError(
            "There is no token of the Hub: set HF_TOKEN to one that may write, and start CoEval again."
        )
    try:
        listing = hub.look(repo)
    except InputError as error:
        if get_status(error) == 404:
            return None
        raise
    if not listing.is_ours and set(listing.files) - OWN_BY_HUB:
        raise InputError(
            f"{repo} holds files that CoEval did not send: give a name that is not in use, or an empty data set."
        )
    return listing


def send(hub: Hub, repo: str, paths: Sequence[Path], *, private: bool, message: str) -> Sent:
    """Have a data set hold these files, in one commit; where it holds them already there is none.

    Raises:
        InputError: the Hub refuses, or cannot be reached. The data set then holds either all files or none of them.
    """
    standing = look_before(hub, repo)
    created = standing is None
    if standing is None:
        _create(hub, repo, private)
        standing = hub.look(repo)
    if private and not standing.private:
        raise InputError(f"{repo} is public: choose public, or another name. Nothing was sent.")
    revision = _commit(hub, standing, paths, message)
    return Sent(revision, revision != standing.revision, created)


def _commit(hub: Hub, standing: Listing, paths: Sequence[Path], message: str) -> str:
    """Files as one commit on the one that stands; gives its id, or that of the one that stands."""
    from huggingface_hub import CommitOperationAdd

    try:
        with hub.translated(standing.repo, *STORES), _quiet(), ExitStack() as files:
            # open files go over our own client, with its limits, and not through a library of its own
            operations = [
                CommitOperationAdd(path.name, files.enter_context(path.open("rb"))) for path in paths
            ]
            done = hub.api.create_commit(
                standing.repo, operations, commit_message=message, repo_type="dataset",
                parent_commit=standing.revision,
            )  # fmt: skip
            return str(done.oid)
    except InputError as error:
        if get_status(error) in range(400, 500):
            raise
        raise InputError(
            f"{error} What was sent may have arrived, whole or not at all: send it again, and what is there already "
            "is not sent twice."
        ) from error


def _create(hub: Hub, repo: str, private: bool) -> None:
    try:
        with hub.translated(repo):
            hub.api.create_repo(repo, repo_type="dataset", private=private)
    except InputError as error:
        if get_status(error) == 409:
            raise InputError(f"{repo} is there, and HF_TOKEN may not see it: give another name.") from error
        raise


@contextmanager
def _quiet() -> Iterator[None]:
    """Without the library's bars and its remarks on what is meant so."""
    from huggingface_hub.utils import (
        are_progress_bars_disabled,
        disable_progress_bars,
        enable_progress_bars,
        logging,
    )

    shown, level = not are_progress_bars_disabled(), logging.get_verbosity()
    disable_progress_bars()
    logging.set_verbosity_error()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if shown:
            enable_progress_bars()
