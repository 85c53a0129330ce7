"""The settings of a judge, and versioned templates: CoEval's own, or those in any folder."""

from __future__ import annotations

import hashlib
import re
import string
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import lru_cache
from pathlib import Path

from coeval.domain.runs import Parameters
from coeval.errors import InputError

PERSONAS: Mapping[str, str] = {
    "": "No persona",
    "assistant": "A helpful assistant",
    "evaluator": "A careful paid evaluator",
}
"""CoEval's own personas. Any other name refers to a template ``persona-<name>`` in the user's folder."""


@dataclass(frozen=True, slots=True)
class JudgeSettings(Parameters):
    """The settings of one judge: the model and the way to ask it. A run records them.

    ``samples`` is the number of answers that are averaged (None: the protocol's default). ``logprobs`` requests the
    expected score over the scale's tokens; if the endpoint gives no log-probabilities, a draft has no score.
    ``reference`` shows the judge each instance's reference. ``criteria_per_call`` is the largest number of criteria in
    one question (0: all), if the protocol supports several.
    """

    model: str = ""
    protocol: str = "coeval"
    samples: int | None = None
    persona: str = ""
    logprobs: bool = False
    reference: bool = False
    criteria_per_call: int = 1
    explain: str = ""
    """The decisions that a chat model explains in words: "uncertain", "all", or "" for none."""
    explain_model: str = ""
    """The model that explains decisions; "" for the model that decides."""


@dataclass(frozen=True, slots=True)
class JudgeOptions(JudgeSettings):
    """The settings of one judge, with the texts that its prompts need.

    ``steps`` holds auto-CoT steps by the text of their criterion. ``templates`` is a folder with the user's own copies
    of templates.
    """

    steps: Mapping[str, str] = field(default_factory=dict)
    templates: Path | None = None


JUDGE_SETTINGS = {member.name: member.default for member in fields(JudgeSettings)}
"""The settings of a judge by name, with their defaults."""


# Templates are versioned files (templates/*.md, or the user's own copies). Every variable must have a value.

FOLDER = Path(__file__).resolve().parent / "templates"
MAX_TEMPLATE = 100_000
"""Longest template, in characters."""

_FRONT = re.compile(r"<!--\s*(?P<name>[a-z0-9-]+)\s+v(?P<version>\d{1,6})\s*-->[ \t]*\n")
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,60}")
_LONE = re.compile(r"[ \t]*\$\{?(\w+)\}?[ \t]*")


@dataclass(frozen=True, slots=True)
class Template:
    """One prompt file: its name and version (from the first line), its body, and the hash of the whole file."""

    name: str
    version: int
    body: str
    hash: str

    def render(self, values: Mapping[str, object]) -> str:
        """Return the body with its ``$variables`` filled in. A line with only an empty variable is left out.

        Raises:
            InputError: a variable has no value, or a dollar sign stands alone (write ``$$`` for a literal one).
        """
        filled = {name: str(value) for name, value in values.items()}
        lines = (line for line in self.body.split("\n") if not self._is_empty(line, filled))
        body = re.sub(r"\n{3,}", "\n\n", "\n".join(lines))
        try:
            return string.Template(body).substitute(filled).strip()
        except KeyError as error:
            known = ", ".join(sorted(filled))
            raise InputError(
                f"The template {self.name!r} uses ${error.args[0]}, which has no value: use one of {known}."
            ) from None
        except ValueError as error:
            raise InputError(f"The template {self.name!r}: {error}. Write $$ for a dollar sign.") from None

    @staticmethod
    def _is_empty(line: str, values: Mapping[str, str]) -> bool:
        alone = _LONE.fullmatch(line)
        return bool(alone) and values.get(alone[1] if alone else "") == ""


def load_template(name: str, folder: Path | None = None) -> Template:
    """Return the template with this name from the user's ``folder``, or else CoEval's own.

    Raises:
        InputError: the template is missing or unreadable, or its first line does not give its name and a version.
    """
    path = _find(name, folder)
    try:
        return _read_template(path, name, path.stat().st_mtime_ns)
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"The template {name!r} cannot be read from {path.parent}: {error}.") from None


def _find(name: str, folder: Path | None) -> Path:
    if not _NAME.fullmatch(name):
        raise InputError(f"{name!r} is not a valid template name: use small letters, digits and hyphens.")
    own = folder / f"{name}.md" if folder else None
    return own if own and own.is_file() else FOLDER / f"{name}.md"


def read_whole(name: str, folder: Path | None = None) -> str:
    """Return the full text of the template that ``load_template`` returns, with its first line.

    Raises:
        InputError: see ``load_template``.
    """
    load_template(name, folder)
    return _read_text(_find(name, folder))


def _read_text(path: Path) -> str:
    return path.read_text(encoding="utf-8-sig").replace("\r\n", "\n")


@lru_cache(maxsize=128)
def _read_template(path: Path, name: str, mtime_ns: int) -> Template:
    text = _read_text(path)
    front = _FRONT.match(text)
    if front is None or front["name"] != name:
        raise InputError(f"{path.name} must begin with the line <!-- {name} v1 -->, with its own version.")
    if len(text) > MAX_TEMPLATE:
        raise InputError(f"{path.name} has {len(text)} characters: shorten it to {MAX_TEMPLATE}.")
    digest = hashlib.sha256(text.encode()).hexdigest()
    return Template(name, int(front["version"]), text[front.end() :], digest)


def hash_templates(names: tuple[str, ...], folder: Path | None = None) -> str:
    """Return one SHA-256 hash over the texts of these templates."""
    hashes = [f"{name}:{load_template(name, folder).hash}" for name in sorted(set(names))]
    return hashlib.sha256("\n".join(hashes).encode()).hexdigest()


def list_wordings() -> list[str]:
    """Return the names of CoEval's own wordings."""
    return sorted(path.name for path in FOLDER.iterdir() if path.is_dir())


def find_templates(name: str) -> Path | None:
    """Return the folder that ``--templates`` names: one of our wordings or the user's folder, or None for "".

    Raises:
        InputError: there is no such wording and no such folder.

    >>> find_templates("g-eval").name
    'g-eval'
    """
    if not name:
        return None
    if name in list_wordings():
        return FOLDER / name
    if not Path(name).is_dir():
        raise InputError(
            f"There is no template folder “{name[:200]}”: name a folder, or one of "
            f"{', '.join(list_wordings())}."
        )
    return Path(name)
