"""Write and read ``judge.json``. Reading parses and checks the file, but runs no code from it."""

from __future__ import annotations

import hashlib
import json
import re
import tempfile
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from coeval.errors import InputError
from coeval.extensions.judge.model.file_schema import KIND, VERSION, JudgeFile
from coeval.llm.prompting.questions import Example

MAX_BYTES = 50_000_000
"""Maximum size of judge.json, in bytes."""

SOMEBODY = "somebody"
"""The replacement for an annotator's name in a reason."""


def write_judge(
    path: Path, judge: JudgeFile, *, names: Collection[str] = (), secrets: Collection[str] = ()
) -> None:
    """Write a judge's file completely or not at all.

    Args:
        path: an existing file is replaced.
        judge: the judge. People's names in the reasons of its examples are replaced with “somebody”.
        names: names of people, which must not occur in the file.
        secrets: keys and passwords in use, which must not occur in the file.

    Raises:
        InputError: a field contains a secret or a name, or the file is too large or cannot be written.
    """
    judge = _without_names(judge, names)
    values = judge.model_dump(mode="json", exclude_defaults=False) | {"version": VERSION}
    _refuse_secrets(path, values, secrets)
    _refuse_names(path, values, names)
    read = read_values(render_values(values))
    data = render_values(read | {"hash": hash_content(read)})
    if len(data) > MAX_BYTES:
        raise InputError(
            f"{path.name} would have {len(data):,} bytes, and the limit is {MAX_BYTES:,}: keep fewer "
            "labels, questions or examples."
        )
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as part:
            part.write(data)
        written = Path(part.name)
        try:
            written.chmod(0o644)
            written.replace(path)
        except OSError:
            written.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}.") from error


def render_values(values: dict[str, Any]) -> bytes:
    """Return the content of a file with these values."""
    text = json.dumps(values, ensure_ascii=False, indent=1, allow_nan=False)
    return text.encode("utf-8", "backslashreplace") + b"\n"


def load_judge(path: str | Path) -> JudgeFile:
    """Return the judge in a file.

    Raises:
        InputError: the file does not exist, or this version cannot read it; one sentence says why.
    """
    path = Path(path)
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror or error}): check the path.") from error
    if len(data) > MAX_BYTES:
        raise InputError(f"{path.name} has more than {MAX_BYTES:,} bytes, so it is not a judge file.")
    return parse_judge(data, path.name)


def parse_judge(data: bytes | str, name: str = "judge.json") -> JudgeFile:
    """Return the judge in a JSON text. ``name`` is used in errors.

    Raises:
        InputError: see ``load_judge``.
    """
    try:
        values = read_values(data)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{name} is not valid JSON ({str(error)[:100]}): download it again.") from error
    if not isinstance(values, dict) or values.get("kind") != KIND:
        raise InputError(
            f"{name} is not a judge file: its “kind” is not “{KIND}”. The Judge tab of a study writes "
            "judge files."
        )
    if values.get("version") != VERSION:
        raise InputError(
            f"{name} has version {str(values.get('version'))[:40]}, and this CoEval reads version "
            f"{VERSION}: update CoEval, or write the judge again."
        )
    _check_unchanged(values, name)
    try:
        return JudgeFile.model_validate(values, strict=False)
    except (ValidationError, RecursionError) as error:
        raise InputError(f"{name} is not a valid judge file: {_first_problem(error)}.") from error


def read_values(data: bytes | str) -> Any:
    """Return the values in a JSON text.

    Raises ValueError if the text is not JSON, or if parsers could read it differently: for NaN or infinite
    numbers, and for a key that occurs twice in an object.
    """
    return json.loads(data, parse_constant=_refuse_constant, object_pairs_hook=_refuse_twice)


def _refuse_constant(name: str) -> float:
    raise ValueError(f"JSON does not allow {name}")


def _refuse_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(
            f"the key {next(name for name in names if names.count(name) > 1)[:60]!r} occurs twice"
        )
    return values


def hash_content(values: dict[str, Any]) -> str:
    """Return the SHA-256 of everything except the hash, as JSON with sorted keys, without spaces, in ASCII.

    The hash reveals a change by hand or in transit. Anybody who changes the file can also write a new hash.

    >>> hash_content({"b": 1.5, "a": "ä", "hash": "x"}) == hash_content({"a": "ä", "b": 1.5})
    True
    """
    content = {key: value for key, value in values.items() if key != "hash"}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def _check_unchanged(values: dict[str, Any], name: str) -> None:
    """Refuse content that does not match the file's hash."""
    if not values.get("hash"):
        raise InputError(f"{name} has no hash and was refused: write it from its study again.")
    try:
        unchanged = values["hash"] == hash_content(values)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{name} is not a valid judge file: its hash cannot be read.") from error
    if not unchanged:
        raise InputError(
            f"{name} was refused: its content does not match its hash. Download or write it again."
        )


def _first_problem(error: Exception) -> str:
    """Return the first problem of a validation: its location and its text."""
    if not isinstance(error, ValidationError):
        return "it is nested too deeply"
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    place = ".".join(str(part)[:60] for part in first["loc"]) or "the whole"
    said = first["msg"].removeprefix("Value error, ")
    more = f", and {error.error_count() - 1} more problems" if error.error_count() > 1 else ""
    return f"{place}: {said[:300]}{more}"


def hide_names(text: str, names: Collection[str]) -> str:
    """Replace every name in a text with “somebody”.

    >>> hide_names("As Ana says.", ["Ana"])
    'As somebody says.'
    """
    pattern = _pattern(names)
    return pattern.sub(SOMEBODY, text) if pattern else text


def _without_names(judge: JudgeFile, names: Collection[str]) -> JudgeFile:
    def cleaned(example: Example) -> Example:
        return example.model_copy(update={"reason": hide_names(example.reason, names)})

    fitted = judge.fitted.model_copy(update={"examples": tuple(map(cleaned, judge.fitted.examples))})
    return judge.model_copy(update={"fitted": fitted})


_KEY = re.compile(
    r"\b(?:sk|hf|gsk|pk|ghp)[-_](?=[\w-]*\d)[\w-]{16,}|\bBearer [\w.~+/-]{16,}|://[^/\s:@]+:[^/\s@]+@"
)
"""A pattern of common providers' keys, and of a password in an address."""


def _refuse_secrets(path: Path, values: Any, secrets: Collection[str]) -> None:
    long_enough = [secret for secret in secrets if len(secret) >= 4]
    for place, text in _strings(values):
        if _KEY.search(text) or any(secret in text for secret in long_enough):
            raise InputError(
                f"{path.name} would contain text that looks like a key or a password ({place}): remove it."
            )


def _refuse_names(path: Path, values: Any, names: Collection[str]) -> None:
    """Refuse a person's name in a value or key of the certificate or the fitted parts.

    Judged texts and prompts may contain any word.
    """
    folded = {name.strip().casefold() for name in names}
    for part in ("certificate", "fitted", "hashes", "name"):
        for place, text in _strings(values[part], part):
            if text.strip().casefold() in folded - {""}:
                raise InputError(f"{path.name} would contain a person's name ({place}): remove it.")


def _pattern(names: Collection[str]) -> re.Pattern[str] | None:
    """Return a pattern of all names as whole words, as written or capitalised, longest first."""
    plain = {name.strip() for name in names if len(name.strip()) > 1}
    forms = sorted(plain | {name[:1].upper() + name[1:] for name in plain}, key=len, reverse=True)
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, forms))})(?!\w)") if forms else None


def _strings(value: Any, place: str = "") -> Iterator[tuple[str, str]]:
    """Yield every string in a JSON value, including the keys of objects, with its location."""
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, dict):
        for key, entry in value.items():
            inner = f"{place}.{key}" if place else str(key)
            yield inner, str(key)
            yield from _strings(entry, inner)
    elif isinstance(value, list):
        for position, entry in enumerate(value):
            yield from _strings(entry, f"{place}.{position}")
