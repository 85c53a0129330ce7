"""Read text files, plain or compressed with gzip, with checks of encoding, size and broken bytes."""

from __future__ import annotations

import codecs
import gzip
import io
import json
import math
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO, TextIO, cast

from coeval.domain import MAX_TEXT
from coeval.errors import InputError

MAX_BYTES = 300_000_000
"""The largest file that is read, in bytes."""

_CHUNK = 1 << 20
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


@contextmanager
def reading(name: str) -> Iterator[None]:
    """Turn disk errors into an InputError with the file's name."""
    try:
        yield
    except OSError as exc:
        raise InputError(f"{name} cannot be read: {exc.strerror or exc}.") from exc


def open_text(path: Path) -> TextIO:
    """Open a text file with unchanged line ends, after one pass that checks for broken bytes.

    The encoding may be UTF-8, with or without a byte order mark, or UTF-16 with a mark.

    Raises InputError for a file larger than ``MAX_BYTES``, or with the number of the first broken line.
    """
    check_size(path)
    encoding = _guess_encoding(path)
    _check_encoding(path, encoding)
    return io.TextIOWrapper(open_bytes(path), encoding, newline="")


def open_bytes(path: Path) -> BinaryIO:
    """Open a file for reading its bytes, unpacked if gzip packed it, whatever its name."""
    with path.open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    return cast(BinaryIO, gzip.open(path)) if packed else path.open("rb")


def read_head(path: Path, size: int) -> bytes:
    """Return the first bytes of a file, unpacked; none if its compressed content is damaged."""
    try:
        with open_bytes(path) as file:
            return file.read(size)
    except (EOFError, zlib.error, gzip.BadGzipFile):
        return b""


def ending(path: Path) -> str:
    """Return the ending of a file's name in lower case, without that of gzip.

    >>> ending(Path("a.CSV")), ending(Path("a.jsonl.gz"))
    ('.csv', '.jsonl')
    """
    return (path.with_suffix("") if path.suffix.lower() == ".gz" else path).suffix.lower()


LINES = (".jsonl", ".ndjson")
HEAD = 1_000_000
"""The number of bytes of a JSON Lines file that are read to recognise it."""

_BEGINS = re.compile(r"\{\s*(\"|\}|$)|\[\s*([\[{\"\d\]-]|true|false|null|$)")


def find_json(path: Path) -> str:
    """Return "lines" for a file with a JSON value on each line, "json" for one value, and "" for any other file.

    The content decides. The ending of the name decides only about a single line, and about a first line that is broken.
    """
    if not path.is_file():
        return ""
    stat = path.stat()
    return _find_json(path, stat.st_mtime_ns, stat.st_size)


@lru_cache(maxsize=256)
def _find_json(path: Path, changed: int, size: int) -> str:
    head = read_head(path, HEAD).decode(_guess_encoding(path), "ignore").lstrip("\ufeff \t\r\n")
    if not _BEGINS.match(head):
        return ""
    first, _, rest = head.partition("\n")
    named = "lines" if ending(path) in LINES else "json"
    try:
        parse_json(first)
    except (ValueError, RecursionError):
        return named if head[0] == "{" else "json"
    return "lines" if rest.strip() else (named if head[0] == "{" else "json")


def check_size(path: Path) -> None:
    """Raise InputError if the file is missing or larger than ``MAX_BYTES``."""
    with reading(path.name):
        size = path.stat().st_size
    if size > MAX_BYTES:
        raise InputError(
            f"{path.name} has {size:,} bytes, and the limit is {MAX_BYTES:,}; split the file and import "
            "the parts."
        )


def load_json(path: Path) -> object:
    """Return the JSON value in a file; raise InputError with line and column if it is not JSON."""
    with open_text(path) as file:
        text = file.read()
    try:
        return parse_json(text)
    except json.JSONDecodeError as exc:
        raise InputError(
            f"{path.name}, line {exc.lineno}, column {exc.colno}: is not JSON ({exc.msg}); the file may "
            "be incomplete, so download it again."
        ) from exc
    except (RecursionError, ValueError) as exc:
        raise InputError(f"{path.name}: {explain_json(exc)}; check the file.") from exc


def parse_json(text: str) -> Any:
    """Return the JSON value of a text.

    Raises ValueError (see ``explain_json``) also for a duplicate name in an object, because one value would be lost,
    and for a number so large that it would be read as infinite.
    """
    return json.loads(text, object_pairs_hook=_object, parse_float=_float)


def explain_json(error: Exception) -> str:
    """Return the reason that ``parse_json`` refused a syntactically correct JSON text."""
    return str(error) if isinstance(error, _JsonError) else "holds JSON nested or numbers too long to read"


class _JsonError(ValueError):
    """An error for valid JSON that would lose data."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise _JsonError(f"has '{shorten(twice)}' twice in one object, so one of the values would be lost")
    return value


def _float(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise _JsonError(f"contains the number {shorten(text, 20)}, which is too large")
    return value


def is_sound(text: str) -> bool:
    """Return whether ``check_text`` accepts a text."""
    return len(text) <= MAX_TEXT and "\0" not in text and _is_unicode(text)


def check_text(text: str, place: str) -> str:
    """Return the text unchanged, or raise InputError; ``place`` is the place in the file."""
    if len(text) > MAX_TEXT:
        image = text[:11].lower() == "data:image/"
        remedy = "make the image smaller, or give its https address" if image else "shorten the text"
        raise InputError(f"{place}: has {len(text):,} characters, and the limit is {MAX_TEXT:,}; {remedy}.")
    if "\0" in text:
        raise InputError(
            f"{place}: contains a NUL byte, which text cannot contain; save the file again as UTF-8 text."
        )
    if not _is_unicode(text):
        raise InputError(
            f"{place}: contains half of a character (a lone surrogate); write the whole character or "
            "remove it."
        )
    return text


def shorten(text: str, width: int = 60) -> str:
    """Return a text for use in a message: on one line, cut after ``width`` characters.

    >>> shorten("a\\nb" + "c" * 100, 5)
    'a bc…'
    """
    line = " ".join(text[: 4 * width].split())
    return line if len(line) <= width and len(text) <= 4 * width else line[: width - 1] + "…"


def parse_number(text: str) -> float | None:
    """Return the number in a text, or None if it is not a finite number.

    >>> parse_number(" 2.5 "), parse_number("nan"), parse_number("many")
    (2.5, None, None)
    """
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _is_unicode(text: str) -> bool:
    try:
        return text.isascii() or bool(text.encode("utf-8"))
    except UnicodeEncodeError:
        return False


def _guess_encoding(path: Path) -> str:
    head = read_head(path, 4)
    return next((name for mark, name in _MARKS if head.startswith(mark)), "utf-8")


def _check_encoding(path: Path, encoding: str) -> None:
    decoder = codecs.getincrementaldecoder(encoding)()
    line = 1
    for chunk, final in _chunks(path):
        try:
            line += decoder.decode(chunk, final).count("\n")
        except UnicodeDecodeError as exc:
            line += bytes(exc.object[: exc.start]).decode(exc.encoding, "ignore").count("\n")
            raise InputError(
                f"{path.name}, line {line}: is not {encoding.removesuffix('-sig').upper()} text; "
                "save the file as UTF-8 and import it again."
            ) from exc


def _chunks(path: Path) -> Iterator[tuple[bytes, bool]]:
    size = 0
    try:
        with open_bytes(path) as file:
            while chunk := file.read(_CHUNK):
                size += len(chunk)
                if size > MAX_BYTES:
                    raise InputError(
                        f"{path.name} has more than {MAX_BYTES:,} bytes when unpacked, which is the limit; split the "
                        "file and import the parts."
                    )
                yield chunk, False
    except (EOFError, zlib.error) as exc:
        raise InputError(f"{path.name}: is damaged, so gzip cannot unpack it; download it again.") from exc
    yield b"", True
