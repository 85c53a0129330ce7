"""A place for snapshots in a private data set on the Hugging Face Hub, with one commit per change."""

from __future__ import annotations

import json
import logging
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfApi
from huggingface_hub.errors import RepositoryNotFoundError
from huggingface_hub.hf_api import RepoFile

from coeval.clock import now
from coeval.errors import StorageError
from coeval.store.snapshots.places import LEASE, Look, Pace, PassingError, lease_name, read_terms

log = logging.getLogger(__name__)
T = TypeVar("T")

PASSING = {408, 425, 429}
CHANGED = {409, 412}
"""The Hub's status codes for a commit that is based on an outdated state of the data set."""

AGAIN_SECONDS = (1.0, 1.0)
"""Pauses before a request is repeated; they are short, so that one fault does not break the time limit."""

SQUASH_SECONDS = 24 * 3600.0
"""Seconds between two removals of the data set's history, which keeps deleted files until then."""

HOW_TO = (
    "Check that HF_TOKEN may read and write it. If it is new, create it as a private data set on the Hub, or start "
    "once with --start-empty."
)


class HubPlace:
    """A place on the Hub. Its pace respects the limit of about 128 commits per hour."""

    def __init__(self, repo: str, token: str, endpoint: str = "") -> None:
        self.repo, self.title = repo, f"data set {repo}"
        self.pace = Pace(26.0, 30.0, 10.0, 60.0, 150.0, ships_are_beats=True)
        self.api = HfApi(endpoint=endpoint or None, token=token or None)
        self._squashed_at = float("-inf")

    def open(self, *, create: bool = False) -> None:
        with self._translated():
            try:
                self._info()
            except RepositoryNotFoundError as error:
                # the Hub also answers "not found" for a data set that the token may not see
                if not create or _status(error) == 401:
                    raise StorageError(f"The snapshot {self.title} cannot be found. {HOW_TO}") from error
                self.api.create_repo(self.repo, repo_type="dataset", private=True)

    def list_names(self) -> list[str]:
        with self._translated():
            return list(self.api.list_repo_files(self.repo, repo_type="dataset"))

    def put(self, path: Path, name: str, choose_drops: Callable[[list[str]], Sequence[str]] | None) -> None:
        with self._translated():
            if not _repeat(self._info).private:
                raise StorageError(f"The {self.title} is public: make it private, and snapshots continue.")
            drops = choose_drops([*_repeat(self.list_names), name]) if choose_drops else ()
            deletions = [CommitOperationDelete(old) for old in drops if old != name]
            _repeat(
                lambda: self._commit([CommitOperationAdd(name, path), *deletions], f"Snapshot {name}")
            )  # this also repeats a commit whose answer was lost: it adds the same file again
        if choose_drops:
            self._squash()

    def prune(self, choose_drops: Callable[[list[str]], Sequence[str]]) -> None:
        with self._translated():
            drops = choose_drops(_repeat(self.list_names))
            if drops:
                self._commit([CommitOperationDelete(old) for old in drops], "Old snapshots end")
        self._squash()

    def _squash(self) -> None:
        """Remove the history once a day; a failure costs only storage, and the next call tries again."""
        if time.monotonic() - self._squashed_at <= SQUASH_SECONDS:
            return
        try:
            self.api.super_squash_history(self.repo, repo_type="dataset")
            self._squashed_at = time.monotonic()
        except Exception as error:
            log.warning("The history of the %s cannot be removed: %s", self.title, error)

    def get(self, name: str, target: Path) -> None:
        with self._translated(), TemporaryDirectory() as cache:
            stored = self.api.get_paths_info(self.repo, [name], repo_type="dataset")
            fetched = Path(self.api.hf_hub_download(self.repo, name, repo_type="dataset", local_dir=cache))
            if [file.size for file in stored if isinstance(file, RepoFile)] != [fetched.stat().st_size]:
                # the connection broke; the files on the Hub may be complete
                raise PassingError(f"The download of {name} from the {self.title} is incomplete.")
            shutil.copyfile(fetched, target)

    # ---- the lease ------------------------------------------------------------------------------------------------

    def look(self) -> Look:
        with self._translated():
            info = self._info()
            term, free = read_terms([file.rfilename for file in info.siblings or ()])
            return Look(term, str(info.sha), free)  # every commit by the holder is a sign of life

    def get_holder(self, term: int) -> Mapping[str, str]:
        with TemporaryDirectory() as folder:
            path = Path(folder) / "lease"
            self.get(lease_name(term), path)
            try:
                holder: dict[str, str] = json.loads(path.read_text())
                return holder
            except ValueError:  # the transfer was cut short
                return {}

    def take(self, term: int, holder: Mapping[str, str]) -> bool:
        with self._translated():
            info = self._info()
            names = [file.rfilename for file in info.siblings or ()]
            if read_terms(names)[0] >= term:
                return False
            old = [CommitOperationDelete(name) for name in names if LEASE.fullmatch(name)]
            try:
                self._commit([_lease(term, holder), *old], f"Term {term}", parent_commit=info.sha)
            except Exception as error:
                if _status(error) in CHANGED:
                    return False
                raise
            return True

    def beat(self, term: int, holder: Mapping[str, str]) -> None:
        with self._translated():
            self._commit([_lease(term, holder)], f"Term {term} continues")

    def release(self, term: int) -> None:
        with self._translated():
            info = self._info()
            names = [file.rfilename for file in info.siblings or ()]
            if read_terms(names)[0] == term:
                free = CommitOperationAdd(lease_name(term, free=True), b"free\n")
                self._commit([free, CommitOperationDelete(lease_name(term))], f"Term {term} ends")

    def _info(self) -> Any:
        return self.api.repo_info(self.repo, repo_type="dataset")

    def _commit(self, operations: list[Any], message: str, **more: Any) -> None:
        self.api.create_commit(self.repo, operations, commit_message=message, repo_type="dataset", **more)

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except StorageError:
            raise
        except Exception as error:  # no network failure may stop annotation
            text = " ".join(str(error).split())[:200] or type(error).__name__
            kind = PassingError if _passes(error) else StorageError
            raise kind(f"The snapshot {self.title} cannot be used: {text}") from error


def _repeat(act: Callable[[], T]) -> T:
    """Return the result of a request; repeat it after a second if the failure is temporary."""
    for pause in AGAIN_SECONDS:
        try:
            return act()
        except Exception as error:
            if not isinstance(error, PassingError) and not _passes(error):
                raise
            time.sleep(pause)
    return act()


def _lease(term: int, holder: Mapping[str, str]) -> CommitOperationAdd:
    return CommitOperationAdd(lease_name(term), json.dumps({**holder, "beat": now()}).encode())


def _status(error: Exception) -> int:
    return int(getattr(getattr(error, "response", None), "status_code", 0) or 0)


def _passes(error: Exception) -> bool:
    """Return whether a failure is temporary: a bad connection, trouble at the Hub, or too many requests."""
    status = _status(error)
    return status == 0 or status >= 500 or status in PASSING or status in CHANGED
