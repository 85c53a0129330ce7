"""A folder for snapshots, such as a Space's ``/data``, or a mounted bucket."""

from __future__ import annotations

import errno
import json
import os
import shutil
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from coeval.errors import StorageError
from coeval.store.snapshots.places import LEASE, Look, Pace, PassingError, lease_name, parse_name, read_terms

MARK = "coeval-place"
"""The file that marks a folder as a place, because a mount point without its disk looks like an empty folder."""

BLOCK = 1 << 20

MARK_TEXT = (
    "CoEval keeps snapshots in this folder. Keep this file: without it CoEval takes the folder for a disk that is not "
    "mounted.\n"
)


class FolderPlace:
    """A place in a folder. A file appears in it complete or not at all."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.title = folder, f"folder {folder}"
        self.pace = Pace(0.5, 2.0, 2.0, 2.0, 10.0, ships_are_beats=False)

    def open(self, *, create: bool = False) -> None:
        with self._translated():
            if not self._is_known():
                if not create:
                    raise StorageError(
                        f"The snapshot {self.title} is missing, or it is empty and has no file “{MARK}”: its disk is "
                        "probably not mounted. Mount the disk and start again. If the folder is new, start once with "
                        f"--start-empty. If the database file already holds a study, create an empty file “{MARK}” in "
                        "the folder instead."
                    )
                if not self.folder.parent.is_dir():
                    raise StorageError(
                        f"The snapshot {self.title} cannot be created, because the folder above it is missing: mount "
                        "its disk, or create that folder."
                    )
                self.folder.mkdir(exist_ok=True)
            if not (self.folder / MARK).exists():
                (self.folder / MARK).write_text(MARK_TEXT)
                self._sync_folder()

    def _is_known(self) -> bool:
        """Return whether the folder is marked as a place, or contains snapshots."""
        if not self.folder.is_dir():
            return False
        return any(
            name == MARK or parse_name(name) or LEASE.fullmatch(name) for name in os.listdir(self.folder)
        )

    def _check_mounted(self) -> None:
        if not (self.folder / MARK).exists():
            raise StorageError(
                f"The snapshot {self.title} has lost its file “{MARK}”: its disk is probably no longer mounted. Mount "
                "it again; snapshots continue by themselves."
            )

    def list_names(self) -> list[str]:
        with self._translated():
            return [path.name for path in self.folder.iterdir()]

    def put(self, path: Path, name: str, choose_drops: Callable[[list[str]], Sequence[str]] | None) -> None:
        with self._translated():
            self._check_mounted()
            partial = self.folder / f"{name}.part"
            with path.open("rb") as source, partial.open("wb") as target:
                shutil.copyfileobj(source, target)
                _sync(target.fileno())
            os.replace(partial, self.folder / name)
            self._sync_folder()
            self._read_back(path, name)
            if choose_drops:
                self.prune(choose_drops)

    def prune(self, choose_drops: Callable[[list[str]], Sequence[str]]) -> None:
        with self._translated():
            self._check_mounted()
            for old in choose_drops(self.list_names()):
                (self.folder / old).unlink(missing_ok=True)

    def _read_back(self, path: Path, name: str) -> None:
        """Compare a file in the place with the sent file.

        Raises:
            PassingError: they differ. A bucket mounted as a folder may report a write before it is complete.
        """
        with path.open("rb") as sent, (self.folder / name).open("rb") as stored:
            if hasattr(os, "posix_fadvise"):  # bypass the page cache, if the system allows it
                os.posix_fadvise(stored.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            while (expected := sent.read(BLOCK)) == stored.read(BLOCK):
                if not expected:
                    return
        (self.folder / name).unlink(missing_ok=True)  # it would hide later changes
        raise PassingError(
            f"{name} is not yet in the snapshot {self.title} with its full content: CoEval sends it again."
        )

    def get(self, name: str, target: Path) -> None:
        with self._translated():
            shutil.copyfile(self.folder / name, target)

    # ---- the lease ------------------------------------------------------------------------------------------------

    def look(self) -> Look:
        with self._translated():
            self._check_mounted()
        term, free = read_terms(self.list_names())
        beat = self.get_holder(term).get("beat", "") if term and not free else ""
        return Look(term, beat, free)

    def get_holder(self, term: int) -> Mapping[str, str]:
        with self._translated():
            try:
                holder: dict[str, str] = json.loads((self.folder / lease_name(term)).read_text())
                return holder
            except (FileNotFoundError, ValueError):
                return {}

    def take(self, term: int, holder: Mapping[str, str]) -> bool:
        with self._translated():
            partial = self._write(holder)
            try:
                os.link(partial, self.folder / lease_name(term))  # fails if the name exists
            except FileExistsError:
                return False
            except OSError:  # a file system without links
                return self._take_slowly(term, holder)
            finally:
                partial.unlink(missing_ok=True)
            for name in self.list_names():
                if (old := read_terms([name])[0]) and old < term:
                    (self.folder / name).unlink(missing_ok=True)
            return True

    def _take_slowly(self, term: int, holder: Mapping[str, str]) -> bool:
        try:
            with (self.folder / lease_name(term)).open("x") as file:
                json.dump(dict(holder), file)
            return True
        except FileExistsError:
            return False

    def beat(self, term: int, holder: Mapping[str, str]) -> None:
        with self._translated():
            self._check_mounted()
            os.replace(self._write({**holder, "beat": uuid.uuid4().hex}), self.folder / lease_name(term))

    def release(self, term: int) -> None:
        with self._translated():
            if read_terms(self.list_names())[0] == term:
                (self.folder / lease_name(term, free=True)).touch()
                (self.folder / lease_name(term)).unlink(missing_ok=True)

    def _write(self, holder: Mapping[str, str]) -> Path:
        partial = self.folder / f"coeval-term-{uuid.uuid4().hex}.part"
        partial.write_text(json.dumps(dict(holder)))
        return partial

    def _sync_folder(self) -> None:
        if os.name == "nt":  # a folder cannot be opened there, and NTFS keeps its own journal of names
            return
        folder = os.open(self.folder, os.O_RDONLY)
        try:
            _sync(folder)
        finally:
            os.close(folder)

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise StorageError(f"The snapshot {self.title} cannot be used: {error.strerror}.") from error


def _sync(number: int) -> None:
    """Flush to disk, if the mount supports it."""
    try:
        os.fsync(number)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # macOS has another number for the second
            raise
