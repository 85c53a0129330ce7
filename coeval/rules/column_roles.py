"""The role of each further column of a file, and images in columns: addresses or data.

A judge that sees the gold score returns the gold score. No list of names for such columns is ever complete,
so a person must decide which columns are shown. Nothing here fetches an image: browsers and model servers do,
and they get only checked addresses.
"""

from __future__ import annotations

import base64
import binascii
import math
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from coeval.domain import Column, ColumnRole, Instance, Task
from coeval.errors import InputError

# Images in a column of the role "image": an address, or the image itself as a data: URI.

MAX_ADDRESS = 2_000
"""The longest address of an image, in characters."""

_DATA = re.compile(r"data:image/([a-z0-9.+-]{1,40});base64,", re.I)
_SIGNS = {
    "png": re.compile(rb"\x89PNG\r\n\x1a\n"),
    "jpeg": re.compile(rb"\xff\xd8\xff"),
    "gif": re.compile(rb"GIF8[79]a"),
    "webp": re.compile(rb"RIFF.{4}WEBP", re.S),
}
"""The first bytes of each image type."""

_HOST = re.compile(r"(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]{2,63}(?::\d{1,5})?", re.ASCII)
_UNSAFE = re.compile(r"[\s\\\"'<>`{}|^;,\x00-\x1f\x7f]")
_ENDING = re.compile(r"\.(?:png|jpe?g|gif|webp|svgz?)$", re.I)


class ImageError(InputError):
    """The value of an image column is not an image that can be shown or sent."""


@dataclass(frozen=True, slots=True)
class Image:
    """An image of an instance: ``source`` is its address or data: URI, ``host`` the address's host."""

    name: str
    source: str
    host: str = ""


def read_image(name: str, value: str) -> Image:
    """Return the image in a cell of the column ``name``.

    Raises:
        ImageError: the cell has no image that is safe to show; the message says why, and what to provide
            instead.
    """
    text = value.strip()
    if text[:5].lower() == "data:":
        return Image(name, _check_data(name, text))
    if len(text) > MAX_ADDRESS:
        raise ImageError(
            f"“{name}”: the address has {len(text):,} characters: use one of at most {MAX_ADDRESS:,}."
        )
    try:
        parts = urlsplit(text)
        host = parts.netloc.lower()
    except ValueError:
        host = ""
    if text[:8].lower() != "https://" or _UNSAFE.search(text) or not is_host(host):
        raise ImageError(
            f"“{name}”: “{text[:60]}” is not the address of an image. Give one that begins with "
            "https:// and a host name, or the image as a data: URI."
        )
    if parts.path.lower().endswith((".svg", ".svgz")):
        raise ImageError(_no_svg(name))
    return Image(name, text, host)


def is_host(text: str) -> bool:
    """Return whether a text is a host name, with or without a port.

    >>> is_host("images.example.org"), is_host("user@example.org"), is_host("localhost")
    (True, False, False)
    """
    return len(text) <= 260 and _HOST.fullmatch(text) is not None


def is_allowed(host: str, allowed: Collection[str]) -> bool:
    """Return whether a host is on a list. ``*.example.org`` matches every host below that name.

    >>> is_allowed("a.example.org", ["*.example.org"]), is_allowed("example.org", ["*.example.org"])
    (True, False)
    """
    above = [f"*.{host[place + 1 :]}" for place, letter in enumerate(host) if letter == "."]
    return host in allowed or any(name in allowed for name in above)


def find_images(instance: Instance, columns: Mapping[str, ColumnRole]) -> dict[str, str]:
    """Return the non-blank cells in an instance's image columns, by column."""
    return {
        name: value
        for name, value in instance.context.items()
        if columns.get(name) is ColumnRole.IMAGE and value.strip()
    }


def list_images(task: Task, instance: Instance) -> list[Image]:
    """Return the images of an instance.

    Raises:
        ImageError: a cell has no image that is safe to show.
    """
    return [read_image(name, value) for name, value in find_images(instance, task.columns).items()]


def looks_like_image(value: str) -> bool:
    """Return whether a cell is meant as an image: a data: URI, or an address with an image's extension.

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
            f"“{name}”: “{text[:40]}” is not a supported image: give PNG, JPEG, GIF or WebP as "
            "data:image/…;base64,…, or an https address."
        )
    try:
        content = base64.b64decode(text[head.end() :], validate=True)
    except (binascii.Error, ValueError):
        raise ImageError(
            f"“{name}”: the image is incomplete, because its base64 text cannot be read: export it again."
        ) from None
    if not _SIGNS[kind].match(content):
        raise ImageError(
            f"“{name}”: the data is not {kind.upper()}, as its type says: give the real type of the image."
        )
    return text


def _no_svg(name: str) -> str:
    return f"“{name}”: an SVG can hold scripts and is not shown: give PNG, JPEG, GIF or WebP instead."


# The role of a column before anybody chose one: hidden from everyone, unless it contains images.

_METRIC = re.compile(
    r"(?<![a-z])(?:bleu|rouge|meteor|chrf|(?:bert|bart|mover)score|sumbleurt|comet|cider|nli|summac|unieval)",
    re.I,
)
"""The names of automatic metrics, whose columns of numbers are seen by nobody and can help a judge."""


def guess_columns(instances: Iterable[Instance]) -> list[Column]:
    """Return a column for every name in these instances' contexts, in order of appearance.

    >>> guess_columns([Instance("a", "", "", context={"topic": "bees"})])[0].role.value
    'hidden'
    """
    values: dict[str, list[str]] = {}
    for instance in instances:
        for name, value in instance.context.items():
            values.setdefault(name, []).append(value)
    return [guess_column(name, cells) for name, cells in values.items()]


def guess_column(name: str, values: Iterable[str]) -> Column:
    """Return the column with the role that its name and values suggest.

    >>> guess_column("rougeL", ["0.31", "0.4"]).role.value, guess_column("online", ["1"]).role.value
    ('assistant score', 'hidden')
    """
    filled = [value for value in values if value.strip()]
    if filled and all(map(looks_like_image, filled)):
        return Column(name, ColumnRole.IMAGE)
    if filled and _METRIC.search(name) and all(map(_is_number, filled)):
        return Column(name, ColumnRole.ASSISTANT_SCORE)
    return Column(name, ColumnRole.HIDDEN)


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def select_context(
    context: Mapping[str, str], columns: Mapping[str, ColumnRole], *, judge: bool
) -> dict[str, str]:
    """Return the context's texts that a judge (or else a person) may see, in order, without blank ones.

    Images are not texts: ``list_images`` returns them.
    """
    shown: dict[str, str] = {}
    for name, text in context.items():
        role = columns.get(name)
        if not text or role is None or role is ColumnRole.IMAGE:
            continue
        if role.judge_sees if judge else role.people_see:
            shown[name] = text
    return shown
