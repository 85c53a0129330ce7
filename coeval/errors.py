"""The errors of CoEval, each with one sentence that tells the user what to do."""

from __future__ import annotations


class CoevalError(Exception):
    """Base of every error CoEval raises on purpose; its text is shown to the user as it is.

    ``told`` is the text for people on the web, where ``text`` names a path of the server or an option of a command.
    """

    def __init__(self, text: str = "", told: str = "") -> None:
        super().__init__(text)
        self._told = told

    @property
    def told(self) -> str:
        """The text for people on the web, without paths of the server and options of commands."""
        return self._told or str(self)


class InputError(CoevalError):
    """A file, a form or a command holds something that cannot be used; nothing was written."""


class NotFoundError(CoevalError):
    """The task, instance, criterion or person named does not exist."""


class NotGivenError(NotFoundError):
    """The instance is there, and was not given to this person."""


class NotAllowedError(CoevalError):
    """The person asking may not do this."""


class SignedOutError(NotAllowedError):
    """There is no session, or it has ended: the person must sign in again."""


class StaleError(CoevalError):
    """The browser sent a change of an older state; nothing was overwritten."""


class ModelError(CoevalError):
    """The model cannot be reached, is not configured, or refused the request."""


class UnreadableAnswerError(ModelError):
    """The model's answer does not have the requested form: the question can be repeated."""


class StorageError(CoevalError):
    """The database file cannot be opened, is newer than this program, or is out of space."""


class UnreachableError(StorageError):
    """The server of the database does not answer, or ended the connection: it may come back."""


class BusyError(StorageError):
    """Others wrote to the database for too long, so nothing was written: it may be tried again."""


class SupersededError(StorageError):
    """Another worker has taken over, because this one did not respond for too long."""


class DamagedError(StorageError):
    """SQLite cannot read the file: its pages are damaged, or it is no database."""
