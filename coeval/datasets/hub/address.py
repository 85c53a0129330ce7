"""``hf://datasets/OWNER/NAME[@revision][/config/split]``: what names a data set of the Hub, or a part of one."""

from __future__ import annotations

import re
from dataclasses import dataclass

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
    """A data set, a commit, branch or tag of it, and which of its parts; empty where the address leaves it open."""

    repo: str
    revision: str = ""
    config: str = ""
    split: str = ""

    def __str__(self) -> str:
        revision = f"@{self.revision}" if self.revision else ""
        part = f"/{self.config}/{self.split}" if self.config else ""
        return f"{START}{self.repo}{revision}{part}"


def is_hub_address(text: str) -> bool:
    """Whether a text is meant as an address of the Hub."""
    return text.strip().lower().startswith("hf:")


def parse_address(text: str) -> HubAddress:
    """The data set that an address, or OWNER/NAME alone, names.

    >>> parse_address("hf://datasets/team/answers@v1/default/test")
    HubAddress(repo='team/answers', revision='v1', config='default', split='test')
    >>> str(parse_address("team/answers"))
    'hf://datasets/team/answers'

    Raises:
        InputError: the text is no such address.
    """
    match = _ADDRESS.fullmatch(text.strip())
    if match is None or ".." in text or "--" in match["repo"]:
        raise InputError(
            f"“{shorten(text)}” is no data set of the Hub: write {FORM}, such as {START}team/answers."
        )
    return HubAddress(match["repo"], match["revision"] or "", match["config"] or "", match["split"] or "")
