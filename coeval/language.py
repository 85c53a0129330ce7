"""Translations of the texts that annotators see.

Texts in the code are English; ``coeval/locale/LANGUAGE/LC_MESSAGES/coeval.po`` translates them. The server
sets the language of a request in one place (``coeval/ui/server/language_middleware.py``, and for events of
Gradio ``coeval/ui/tabs.py``); all other code only calls ``tr`` and ``trn``. Files, logs and the command line
stay English.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from gettext import GNUTranslations, NullTranslations
from pathlib import Path

SOURCE = "en"
"""The language of the texts in the code."""

LOCALE = Path(__file__).parent / "locale"

_spoken: ContextVar[str] = ContextVar("spoken", default=SOURCE)


@dataclass(frozen=True, slots=True)
class Language:
    """A language of the annotators' pages: its code, its own name, and its writing direction."""

    code: str
    name: str
    direction: str
    """``ltr`` or ``rtl``."""


@cache
def list_languages() -> dict[str, Language]:
    """Return the languages that have a catalogue, by code, English first.

    >>> list_languages()["en"].name, list_languages()["ar"].direction
    ('English', 'rtl')
    """
    return {code: _describe(code) for code in _list_codes()}


@cache
def _list_codes() -> tuple[str, ...]:
    return (SOURCE, *sorted(path.parts[-3] for path in LOCALE.glob("*/LC_MESSAGES/coeval.mo")))


def _describe(code: str) -> Language:
    with speaking(code):
        # Translators: the name of this language, in this language
        name = tr("English")
        # Translators: how this language is written: ltr (left to right) or rtl (right to left)
        return Language(code, name, tr("ltr"))


@cache
def _catalogue(code: str) -> NullTranslations:
    if code == SOURCE:
        return NullTranslations()
    with (LOCALE / code / "LC_MESSAGES" / "coeval.mo").open("rb") as file:
        return GNUTranslations(file)


def choose_language(code: str) -> str:
    """Return the code if it has a catalogue, or else the code of English.

    >>> choose_language("ar"), choose_language("tlh"), choose_language("")
    ('ar', 'en', 'en')
    """
    return code if code in _list_codes() else SOURCE


def get_spoken() -> Language:
    """Return the current language of the context."""
    return list_languages()[_spoken.get()]


def speak(code: str) -> None:
    """Set the language of the current context; a language without a catalogue becomes English."""
    _spoken.set(choose_language(code))


@contextmanager
def speaking(code: str) -> Iterator[None]:
    """Use a language until the end of the block.

    >>> with speaking("ar"):
    ...     tr("Skip") == "Skip"
    False
    """
    before = _spoken.get()
    speak(code)
    try:
        yield
    finally:
        _spoken.set(before)


def tr(text: str, /, **values: object) -> str:
    """Return the text in the current language, with its ``{names}`` filled in.

    >>> tr("Page {at} of {pages}", at=1, pages=3)
    'Page 1 of 3'
    """
    return _fill(_catalogue(_spoken.get()).gettext(text), values)


def trn(one: str, many: str, n: int, /, **values: object) -> str:
    """Return the singular or plural form of a text for the number ``n``, in the current language.

    >>> trn("{n} line", "{n} lines", 1), trn("{n} line", "{n} lines", 1200)
    ('1 line', '1,200 lines')
    """
    return _fill(_catalogue(_spoken.get()).ngettext(one, many, n), {"n": f"{n:,}", **values})


def later(text: str) -> str:
    """Return the text unchanged; the call marks it for the catalogue and a later ``tr``."""
    return text


def _fill(text: str, values: dict[str, object]) -> str:
    return text.format_map(values) if values else text
