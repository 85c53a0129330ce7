"""Assistant evaluators that installed packages bring: BLEURT, an NLI model, anything that scores texts.

A package names an `Assistant`, or a function that makes one, under the entry point group ``coeval.assistants``.
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import EntryPoint, entry_points

from coeval.errors import InputError
from coeval.llm.assistants.catalogue import Assistant

GROUP = "coeval.assistants"


def list_plugins() -> list[Assistant]:
    """The assistants of installed packages, by name.

    Raises:
        InputError: one of them cannot be loaded, or is no assistant; the message names its package.
    """
    return [_load(entry) for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name)]


@cache
def _load(entry: EntryPoint) -> Assistant:
    package = entry.dist.name if entry.dist else "an installed package"
    try:
        target = entry.load()
        assistant = target() if not isinstance(target, Assistant) and callable(target) else target
    except InputError:
        raise
    except Exception as error:  # whatever a stranger's package raises is told and not a crash of ours
        raise InputError(
            f"The assistant “{entry.name}” of {package} cannot be loaded ({type(error).__name__}: {error}): mend "
            "it, or uninstall the package."
        ) from error
    if not isinstance(assistant, Assistant) or assistant.score is None:
        raise InputError(
            f"The assistant “{entry.name}” of {package} is no Assistant with a score: see coeval/README.md."
        )
    return assistant
