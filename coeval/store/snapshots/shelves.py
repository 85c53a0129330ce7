"""Where snapshots are kept: a folder, or a private data set on the Hugging Face Hub.

A shelf lists names, takes a file in, drops old ones, and gives a file back; every failure is a StorageError.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol

from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfApi
from huggingface_hub.errors import RepositoryNotFoundError

from coeval.errors import StorageError
from coeval.settings import Snapshots


class Shelf(Protocol):
    """A place for snapshots; ``title`` is how messages call it."""

    title: str

    def list_names(self) -> list[str]: ...

    def put(self, path: Path, name: str, choose_drops: Callable[[list[str]], Sequence[str]]) -> None: ...

    def get(self, name: str, target: Path) -> None: ...


class FolderShelf:
    """A folder, such as a Space's ``/data``. A file appears there whole or not at all."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.title = folder, f"folder {folder}"

    def list_names(self) -> list[str]:
        with self._translated():
            return [path.name for path in self.folder.iterdir()] if self.folder.is_dir() else []

    def put(self, path: Path, name: str, choose_drops: Callable[[list[str]], Sequence[str]]) -> None:
        with self._translated():
            self.folder.mkdir(parents=True, exist_ok=True)
            partial = self.folder / f"{name}.part"
            with path.open("rb") as source, partial.open("wb") as target:
                shutil.copyfileobj(source, target)
                target.flush()
                os.fsync(target.fileno())
            os.replace(partial, self.folder / name)
            for old in choose_drops(self.list_names()):
                (self.folder / old).unlink(missing_ok=True)

    def get(self, name: str, target: Path) -> None:
        with self._translated():
            shutil.copyfile(self.folder / name, target)

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise StorageError(f"The snapshot {self.title} cannot be used: {error.strerror}.") from error


class HubShelf:
    """A private data set on the Hub. One snapshot is one commit, which adds the new and drops the old."""

    def __init__(self, repo: str, token: str, endpoint: str = "") -> None:
        self.repo, self.title = repo, f"data set {repo}"
        self.api = HfApi(endpoint=endpoint or None, token=token or None)

    def list_names(self) -> list[str]:
        with self._translated():
            try:
                return self.api.list_repo_files(self.repo, repo_type="dataset")
            except RepositoryNotFoundError:
                return []

    def put(self, path: Path, name: str, choose_drops: Callable[[list[str]], Sequence[str]]) -> None:
        with self._translated():
            self._ensure_private()
            drops = choose_drops([*self.api.list_repo_files(self.repo, repo_type="dataset"), name])
            self.api.create_commit(
                self.repo,
                [
                    CommitOperationAdd(name, path),
                    *(CommitOperationDelete(old) for old in drops if old != name),
                ],
                commit_message=f"Snapshot {name}",
                repo_type="dataset",
            )

    def _ensure_private(self) -> None:
        try:
            found = self.api.repo_info(self.repo, repo_type="dataset")
        except RepositoryNotFoundError:
            self.api.create_repo(self.repo, repo_type="dataset", private=True, exist_ok=True)
            found = self.api.repo_info(self.repo, repo_type="dataset")
        if not found.private:
            raise StorageError(f"The {self.title} is public: make it private, and snapshots go there again.")

    def get(self, name: str, target: Path) -> None:
        with self._translated(), TemporaryDirectory() as cache:
            found = self.api.hf_hub_download(self.repo, name, repo_type="dataset", local_dir=cache)
            shutil.copyfile(found, target)

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except StorageError:
            raise
        except Exception as error:  # whatever a network may do: none of it may stop annotation
            text = " ".join(str(error).split())[:200] or type(error).__name__
            raise StorageError(f"The snapshot {self.title} cannot be used: {text}") from error


def build_shelves(settings: Snapshots) -> list[Shelf]:
    """The places that the settings name."""
    shelves: list[Shelf] = []
    if settings.folder:
        shelves.append(FolderShelf(settings.folder))
    if settings.repo:
        shelves.append(HubShelf(settings.repo, settings.token, settings.endpoint))
    return shelves
