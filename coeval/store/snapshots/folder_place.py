"""A folder for snapshots, such as a Space's ``/data``, also one that a bucket is mounted at."""

from __future__ import annotations

import json
import os
import shutil
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from coeval.errors import StorageError
from coeval.store.snapshots.places import Look, Pace, lease_name, read_terms


class FolderPlace:
    """A file appears in the folder whole or not at all."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.title = folder, f"folder {folder}"
        self.pace = Pace(0.5, 2.0, 2.0, 2.0, 10.0, ships_are_beats=False)

    def open(self) -> None:
        with self._translated():
            if not self.folder.is_dir() and not self.folder.parent.is_dir():
                # a disk that is not mounted looks so: nobody knows what is on it
                raise StorageError(
                    f"The snapshot {self.title} is not there, nor is the folder above it: mount the disk, or make "
                    "the folder if there never was one."
                )
            self.folder.mkdir(exist_ok=True)

    def list_names(self) -> list[str]:
        with self._translated():
            return [path.name for path in self.folder.iterdir()]

    def put(self, path: Path, name: str, choose_drops: Callable[[list[str]], Sequence[str]] | None) -> None:
        with self._translated():
            partial = self.folder / f"{name}.part"
            with path.open("rb") as source, partial.open("wb") as target:
                shutil.copyfileobj(source, target)
                _sync(target.fileno())
            os.replace(partial, self.folder / name)
            self._sync_folder()
            for old in choose_drops(self.list_names()) if choose_drops else ():
                (self.folder / old).unlink(missing_ok=True)

    def get(self, name: str, target: Path) -> None:
        with self._translated():
            shutil.copyfile(self.folder / name, target)

    # ---- the lease ------------------------------------------------------------------------------------------------

    def look(self) -> Look:
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
                os.link(partial, self.folder / lease_name(term))  # fails where the name is there
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
    """Wait for the disk; what a bucket is mounted at may not be able to."""
    try:
        os.fsync(number)
    except OSError as error:
        if error.errno not in (22, 95):  # EINVAL, ENOTSUP
            raise
