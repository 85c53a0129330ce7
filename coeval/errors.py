"""Exceptions of CoEval. The text of each is one sentence that tells the user what to do."""

from __future__ import annotations


class CoevalError(Exception):
    """The base class of all intended errors of CoEval; the user sees the text unchanged.

    ``told`` is a version for people on the web, for a ``text`` that names a server path or a command option.
    """

    def __init__(self, text: str = "", told: str = "") -> None:
        super().__init__(text)
        self._told = told

    @property
    def told(self) -> str:
        """Return the text for people on the web, without the server's paths and command options."""
        return self._told or str(self)


class InputError(CoevalError):
    """A file, a form or a command contains an unusable value; nothing was written."""


class NotFoundError(CoevalError):
    """The named task, instance, criterion or person does not exist."""


class NotGivenError(NotFoundError):
    """The instance exists, but it was not assigned to this person."""


class NotAllowedError(CoevalError):
    """The person has no permission for this action."""


class ElsewhereError(NotAllowedError):
    """The person cannot work here; ``link`` is the page for it, relative to the root, or empty if there is none."""

    def __init__(self, text: str, link: str = "") -> None:
        super().__init__(text)
        self.link = link


class SignedOutError(NotAllowedError):
    """There is no session, or it has ended: the person must sign in again."""


class OtherPersonError(SignedOutError):
    """The request comes from a page that was opened for another person than the one who is signed in now."""


class StaleError(CoevalError):
    """The browser sent a change to an outdated state; nothing was overwritten."""


class ModelError(CoevalError):
    """The model cannot be reached, is not configured, or refused the request."""


class UnansweredError(ModelError):
    """The ledger has no answer to this request, and a replay sends none."""


class UnreadableAnswerError(ModelError):
    """The model's answer does not have the requested form; the request can be repeated."""


class StorageError(CoevalError):
    """The database file cannot be opened, is newer than this program, or is out of space."""


class UnreachableError(StorageError):
    """The database server does not answer or has closed the connection; it may come back."""


class BusyError(StorageError):
    """Other processes wrote to the database for too long, so nothing was written; the caller may try again."""


class SupersededError(StorageError):
    """Another worker has taken over, because this one did not respond for too long."""


class DamagedError(StorageError):
    """SQLite cannot read the file: its pages are damaged, or it is not a database."""
