"""Images in a column of the role "image": an address, or the image itself as a data: URI.

Nothing here fetches anything: browsers and model servers do, and only what passes is given to them.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from coeval.domain import ColumnRole, Instance, Task
from coeval.errors import InputError

MAX_ADDRESS = 2_000
"""Longest address of an image, in characters."""

_DATA = re.compile(r"data:image/([a-z0-9.+-]{1,40});base64,", re.I)
_SIGNS = {
    "png": re.compile(rb"\x89PNG\r\n\x1a\n"),
    "jpeg": re.compile(rb"\xff\xd8\xff"),
    "gif": re.compile(rb"GIF8[79]a"),
    "webp": re.compile(rb"RIFF.{4}WEBP", re.S),
}
"""What the bytes of each type begin with."""

_HOST = re.compile(r"(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]{2,63}(?::\d{1,5})?", re.ASCII)
_UNSAFE = re.compile(r"[\s\\\"'<>`{}|^;,\x00-\x1f\x7f]")
_ENDING = re.compile(r"\.(?:png|jpe?g|gif|webp|svgz?)$", re.I)


class ImageError(InputError):
    """The value of an image column that is no image which can be shown or sent."""


@dataclass(frozen=True, slots=True)
class Image:
    """An image of an instance: ``source`` is its address or data: URI, ``host`` that of an address."""

    name: str
    source: str
    host: str = ""


def read_image(name: str, value: str) -> Image:
    """The image that a cell of the column ``name`` holds.

    Raises:
        ImageError: it holds none that is safe to show: it says why, and what to give instead.
    """
    text = value.strip()
    if text[:5].lower() == "data:":
        return Image(name, _check_data(name, text))
    if len(text) > MAX_ADDRESS:
        raise ImageError(
            f"“{name}”: the address has {len(text):,} characters, and {MAX_ADDRESS:,} are taken: use a shorter one."
        )
    try:
        parts = urlsplit(text)
        host = parts.netloc.lower()
    except ValueError:
        host = ""
    if text[:8].lower() != "https://" or _UNSAFE.search(text) or not is_host(host):
        raise ImageError(
            f"“{name}”: “{text[:60]}” is no address of an image: give one that begins with https:// and a host's "
            "name, or the image as a data: URI."
        )
    if parts.path.lower().endswith((".svg", ".svgz")):
        raise ImageError(_no_svg(name))
    return Image(name, text, host)


def is_host(text: str) -> bool:
    """Whether this is a host's name, with or without a port.

    >>> is_host("images.example.org"), is_host("user@example.org"), is_host("localhost")
    (True, False, False)
    """
    return len(text) <= 260 and _HOST.fullmatch(text) is not None


def is_allowed(host: str, allowed: Collection[str]) -> bool:
    """Whether a host is on a list; ``*.example.org`` there stands for every host below that name.

    >>> is_allowed("a.example.org", ["*.example.org"]), is_allowed("example.org", ["*.example.org"])
    (True, False)
    """
    above = [f"*.{host[place + 1 :]}" for place, letter in enumerate(host) if letter == "."]
    return host in allowed or any(name in allowed for name in above)


def find_images(instance: Instance, columns: Mapping[str, ColumnRole]) -> dict[str, str]:
    """The cells of an instance's image columns that are not blank, by their columns."""
    return {
        name: value
        for name, value in instance.context.items()
        if columns.get(name) is ColumnRole.IMAGE and value.strip()
    }


def list_images(task: Task, instance: Instance) -> list[Image]:
    """The images of an instance.

    Raises:
        ImageError: a cell holds none that is safe to show.
    """
    return [read_image(name, value) for name, value in find_images(instance, task.columns).items()]


def looks_like_image(value: str) -> bool:
    """Whether a cell is meant for an image, by its data: URI or by how its address ends.

    >>> looks_like_image("https://example.org/a.png?size=2"), looks_like_image("https://example.org/about")
    (True, False)
    """
    text = value.strip()
    if text[:11].lower() == "data:image/":
        return True
    return text[:8].lower() == "https://" and bool(_ENDING.search(re.split(r"[?#]", text[:MAX_ADDRESS])[0]))


def _check_data(name: str, text: str) -> str:
    head = _DATA.match(text)
    kind = head[1].lower().replace("jpg", "jpeg") if head else ""
    if kind.startswith("svg") or text[5:14].lower() == "image/svg":
        raise ImageError(_no_svg(name))
    if head is None or kind not in _SIGNS:
        raise ImageError(
            f"“{name}”: “{text[:40]}” is no image that is taken: give PNG, JPEG, GIF or WebP as "
            "data:image/…;base64,…, or an https address."
        )
    try:
        content = base64.b64decode(text[head.end() :], validate=True)
    except (binascii.Error, ValueError):
        raise ImageError(f"“{name}”: the image is not whole: its base64 text cannot be read.") from None
    if not _SIGNS[kind].match(content):
        raise ImageError(
            f"“{name}”: the data is said to be {kind.upper()} and is not: give the type that the image really has."
        )
    return text


def _no_svg(name: str) -> str:
    return f"“{name}”: an SVG can hold scripts and is not shown: give PNG, JPEG, GIF or WebP instead."
