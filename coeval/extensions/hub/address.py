"""Addresses ``hf://datasets/OWNER/NAME[@revision][/config/split]``, and the files of each part.

The rules are the Hub's own (https://huggingface.co/docs/hub/datasets-data-files-configuration). Only files in
the data set are used: a pattern with another address matches nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from coeval.datasets.tables.table_files import TABLES
from coeval.datasets.text import shorten
from coeval.errors import InputError

START = "hf://datasets/"
FORM = f"{START}OWNER/NAME[@revision][/config/split]"

_NAME = r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,94}[A-Za-z0-9_])?"
_WORD = r"[^/@\s]{1,100}"
_ADDRESS = re.compile(
    rf"(?:{START})?(?P<repo>{_NAME}/{_NAME})(?:@(?P<revision>[\w./-]{{1,100}}?))??"
    rf"(?:/(?P<config>{_WORD})/(?P<split>{_WORD}))?/?"
)


@dataclass(frozen=True, slots=True)
class HubAddress:
    """A data set with its revision and part; fields are empty if the address does not name them."""

    repo: str
    revision: str = ""
    config: str = ""
    split: str = ""

    def __str__(self) -> str:
        revision = f"@{self.revision}" if self.revision else ""
        part = f"/{self.config}/{self.split}" if self.config else ""
        return f"{START}{self.repo}{revision}{part}"


def is_hub_address(text: str) -> bool:
    """Return whether a text is meant as an address of the Hub."""
    return text.strip().lower().startswith("hf:")


def parse_address(text: str) -> HubAddress:
    """Return the data set that an address, or OWNER/NAME alone, names.

    >>> parse_address("hf://datasets/team/answers@v1/default/test")
    HubAddress(repo='team/answers', revision='v1', config='default', split='test')
    >>> str(parse_address("team/answers"))
    'hf://datasets/team/answers'

    Raises:
        InputError: the text is not a valid address.
    """
    match = _ADDRESS.fullmatch(text.strip())
    if match is None or ".." in text or "--" in match["repo"]:
        raise InputError(
            f"“{shorten(text)}” is not a data set of the Hub: write {FORM}, such as {START}team/answers."
        )
    return HubAddress(match["repo"], match["revision"] or "", match["config"] or "", match["split"] or "")


# The parts of a data set: from the ``configs`` of its card, or else from the names of its files.

DEFAULT = "default"
ENDINGS = tuple(ending for kind in TABLES for ending in kind.endings if ending != ".txt")
SPLITS: Mapping[str, tuple[str, ...]] = {
    "train": ("train", "training"),
    "validation": ("validation", "valid", "dev", "val"),
    "test": ("test", "testing", "eval", "evaluation"),
}
"""Words in a file's or folder's name that assign it to a split."""


@dataclass(frozen=True, slots=True)
class Part:
    """One split of one config, and its files in order with their sizes in bytes."""

    config: str
    split: str
    files: tuple[tuple[str, int], ...]

    @property
    def size(self) -> int:
        return sum(size for _, size in self.files)

    @property
    def name(self) -> str:
        return f"{self.config}/{self.split}"


def list_parts(files: Mapping[str, int], card: Mapping[str, Any]) -> tuple[Part, ...]:
    """Return the parts of a data set: ``files`` are its files with sizes, ``card`` is the head of its card."""
    readable = {name: size for name, size in sorted(files.items()) if name.lower().endswith(ENDINGS)}
    configs = card.get("configs")
    stated = list(_list_stated(readable, configs)) if isinstance(configs, list) else []
    return tuple(stated) or tuple(_guess_parts(DEFAULT, readable))


def choose_part(parts: Iterable[Part], address: HubAddress) -> Part:
    """Return the part that an address names, or the only existing part.

    Raises:
        InputError: no part can be read, the named part does not exist, or the address does not say
            which of several parts it means.
    """
    parts = tuple(parts)
    if not parts:
        raise InputError(
            f"{address.repo} has no file that can be read as a table ({', '.join(ENDINGS)}). Download it, "
            "convert it, and import the result."
        )
    if not address.config and len(parts) == 1:
        return parts[0]
    for part in parts:
        if (part.config, part.split) == (address.config, address.split):
            return part
    names = ", ".join(shorten(part.name) for part in parts[:20]) + (" and more" if len(parts) > 20 else "")
    asked = f"no part {address.config}/{address.split}" if address.config else "several parts"
    raise InputError(f"{address.repo} has {asked}: add a part to the address. The parts are {names}.")


def _list_stated(files: Mapping[str, int], configs: list[Any]) -> Iterator[Part]:
    for config in configs:
        if not isinstance(config, dict) or not isinstance(config.get("config_name", DEFAULT), str):
            continue
        name, folder = config.get("config_name", DEFAULT), str(config.get("data_dir") or "").strip("/")
        inside = {path: size for path, size in files.items() if not folder or path.startswith(folder + "/")}
        data = config.get("data_files")
        if data is None:
            yield from _guess_parts(name, inside)
        elif isinstance(data, dict) or (
            isinstance(data, list) and any(isinstance(entry, dict) for entry in data)
        ):
            yield from _list_splits(name, inside, folder, data)
        else:
            yield from _guess_parts(name, _match(inside, folder, data))


def _list_splits(config: str, files: Mapping[str, int], folder: str, data: Any) -> Iterator[Part]:
    pairs = data.items() if isinstance(data, dict) else (
        (entry.get("split", "train"), entry.get("path")) for entry in data if isinstance(entry, dict)
    )  # fmt: skip
    for split, patterns in pairs:
        matched = _match(files, folder, patterns)
        if matched:
            yield Part(config, str(split), tuple(matched.items()))


def _match(files: Mapping[str, int], folder: str, patterns: Any) -> dict[str, int]:
    listed = patterns if isinstance(patterns, list) else [patterns]
    wanted = [
        _translate(folder, pattern) for pattern in listed if isinstance(pattern, str) and len(pattern) < 500
    ]
    return {path: size for path, size in files.items() if any(each.fullmatch(path) for each in wanted)}


_GLOB = re.compile(r"(\*\*/)|(\*\*)|(\*)|(\?)")
_STEPS = {"**/": "(?:[^/]+/)*", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def _translate(folder: str, pattern: str) -> re.Pattern[str]:
    """Return a glob pattern as a regular expression. Repeated stars are merged, so that matching stays fast.

    >>> bool(_translate("", "data/train-*.parquet").fullmatch("data/train-00000-of-00001.parquet"))
    True
    >>> bool(_translate("", "*.csv").fullmatch("deep/a.csv"))
    False
    """
    within = re.sub(r"\*{3,}", "**", pattern.removeprefix("./"))
    if within.count("*") > 8:
        return re.compile(re.escape(within))
    path = f"{folder}/{within}" if folder else within
    parts = _GLOB.split(path)
    return re.compile("".join(_STEPS.get(part, re.escape(part)) for part in parts if part))


def _guess_parts(config: str, files: Mapping[str, int]) -> Iterator[Part]:
    """Return the parts by the names of files and folders; files without a split belong to the split train."""
    splits: dict[str, list[tuple[str, int]]] = {}
    for path, size in files.items():
        splits.setdefault(_guess_split(path), []).append((path, size))
    for split, chosen in splits.items():
        kind = PurePosixPath(chosen[0][0]).suffix
        # files of two kinds are not one table: the first kind represents the part
        yield Part(config, split, tuple(each for each in chosen if PurePosixPath(each[0]).suffix == kind))


def _guess_split(path: str) -> str:
    for name in reversed(PurePosixPath(path).parts):
        words = set(re.split(r"[^a-z]+", name.lower()))
        for split, keys in SPLITS.items():
            if words & set(keys):
                return split
    return "train"
