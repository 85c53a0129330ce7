"""A client of the Hub over huggingface_hub: search, inspect and download data sets, and send one in one
commit.

It contacts only the Hub's endpoint (``HF_ENDPOINT``) and the Hub's own hosts. Each failure becomes one sentence.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from coeval.datasets.text import MAX_BYTES
from coeval.errors import CoevalError, InputError
from coeval.extensions.hub.address import HubAddress, Part, list_parts
from coeval.extensions.hub.study_tables import CONFIGS, NEEDED, TAG, file_of

if TYPE_CHECKING:
    from huggingface_hub import HfApi


MAX_PART = 1_000_000_000
"""The largest total size of a downloaded part, in bytes."""

MAX_FILES = 1_000
TIMEOUT = 60.0
"""Seconds to wait for the Hub."""

USUAL = "https://huggingface.co"
HOSTS = ("huggingface.co", "hf.co")
"""The Hub's own hosts. Their subdomains store large files."""

_hosts: ContextVar[tuple[str, ...]] = ContextVar("hosts", default=())


@dataclass(frozen=True, slots=True)
class Listing:
    """A data set at one commit."""

    repo: str
    revision: str
    """The commit."""
    private: bool
    files: Mapping[str, int]
    """Every file with its size in bytes."""
    parts: tuple[Part, ...]
    card: Mapping[str, Any]
    """The content of the card's head."""

    def address(self, part: Part) -> HubAddress:
        return HubAddress(self.repo, self.revision, part.config, part.split)

    @property
    def is_ours(self) -> bool:
        """Return whether CoEval published the data set, so that the whole study can be imported."""
        tags = self.card.get("tags")
        return isinstance(tags, list) and TAG in tags and all(name in self.files for name in NEEDED)

    @property
    def study(self) -> Part:
        """Return all files of a study that CoEval published, as one part without a name."""
        names = (*NEEDED, *(file_of(config) for config in CONFIGS if file_of(config) not in NEEDED))
        return Part("", "", tuple((name, self.files[name]) for name in names if name in self.files))


class Hub:
    """A client of the Hub. Without a token, only public data sets are visible."""

    def __init__(self, endpoint: str = "", token: str = "") -> None:
        from huggingface_hub import HfApi

        self.endpoint, self.has_token = endpoint or USUAL, bool(token)
        self.api: HfApi = HfApi(endpoint=self.endpoint, token=token or False)

    def look(self, repo: str, revision: str = "") -> Listing:
        """Return a data set at the commit of a revision.

        Raises:
            InputError: the data set does not exist, the token has no access to it, or the Hub cannot be reached.
        """
        with self.translated(repo):
            info = self.api.dataset_info(repo, revision=revision or None, files_metadata=True)
        files = {file.rfilename: file.size or 0 for file in info.siblings or ()}
        card = info.card_data.to_dict() if info.card_data else {}
        return Listing(repo, str(info.sha), bool(info.private), files, list_parts(files, card), card)

    def fetch(self, listing: Listing, part: Part, folder: Path) -> Path:
        """Download a part into a folder; return its one file, or a folder with its files.

        Raises:
            InputError: there are too many files, they are too large, or the download is incomplete.
        """
        _check_sizes(listing.repo, part)
        if not part.config:
            return self._fetch_study(listing, part, folder)
        suffix = PurePosixPath(part.files[0][0]).suffix
        if len(part.files) == 1:
            ((name, size),) = part.files
            return self._fetch_file(listing, name, size, folder / PurePosixPath(name).name)
        shards = folder / listing.repo.replace("/", "-")
        shards.mkdir()
        for place, (name, size) in enumerate(part.files):
            shard = f"{place:05}-of-{len(part.files):05}{suffix}"
            self._fetch_file(listing, name, size, shards / f"part-{shard}")
        return shards

    def _fetch_study(self, listing: Listing, part: Part, folder: Path) -> Path:
        whole = folder / listing.repo.replace("/", "-")
        whole.mkdir()
        for name, size in part.files:
            self._fetch_file(listing, name, size, whole / name)
        return whole

    def _fetch_file(self, listing: Listing, name: str, size: int, target: Path) -> Path:
        with self.translated(listing.repo), TemporaryDirectory(dir=target.parent) as folder:
            fetched = Path(
                self.api.hf_hub_download(
                    listing.repo, name, repo_type="dataset", revision=listing.revision, local_dir=folder
                )
            )
            if fetched.stat().st_size != size:
                raise InputError(
                    f"The download of {name} from {listing.repo} is incomplete; try again. Nothing was "
                    "written."
                )
            shutil.move(fetched, target)
            return target

    @contextmanager
    def translated(self, what: str, *further: str) -> Iterator[None]:
        """Contact only the Hub and ``further`` hosts, wait at most ``TIMEOUT``, and turn failures into one
        sentence.
        """
        hosts = _hosts.set((*_own_hosts(self.endpoint), *further))
        try:
            _bound_session()
            yield
        except CoevalError:
            raise
        except Exception as error:  # huggingface_hub passes on every kind of network failure
            raise InputError(_explain(error, what, self.endpoint)) from error
        finally:
            _hosts.reset(hosts)


def _check_sizes(repo: str, part: Part) -> None:
    large = next(((name, size) for name, size in part.files if size > MAX_BYTES), None)
    if large:
        raise InputError(
            f"{repo}: {large[0]} has {large[1]:,} bytes, and the limit is {MAX_BYTES:,} per file; choose "
            "another part, or import a sample of it from a file."
        )
    if part.size > MAX_PART or len(part.files) > MAX_FILES:
        raise InputError(
            f"{repo}: the part {part.name} has {part.size:,} bytes in {len(part.files):,} files. The limit is "
            f"{MAX_PART:,} bytes in {MAX_FILES:,} files; choose another part, or import a sample of it from a file."
        )


def _own_hosts(endpoint: str) -> tuple[str, ...]:
    host = urlsplit(endpoint).hostname or ""
    return HOSTS if host in HOSTS else (host,)


def _bound_session() -> None:
    """Give huggingface_hub's shared HTTP client a time limit, and make it refuse redirections to other hosts."""
    from huggingface_hub import get_session

    session = get_session()
    session.timeout = TIMEOUT
    hooks: dict[str, list[Callable[..., Any]]] = session.event_hooks
    if _refuse_elsewhere not in hooks["request"]:
        session.event_hooks = hooks | {"request": [*hooks["request"], _refuse_elsewhere]}


def _refuse_elsewhere(request: Any) -> None:
    allowed, host = _hosts.get(), request.url.host
    if allowed and not any(host == name or host.endswith("." + name) for name in allowed):
        raise InputError(
            f"The Hub redirected to {host}, which is not one of its hosts: nothing was downloaded."
        )


def get_status(error: BaseException | None) -> int:
    """Return the HTTP status behind an error or its cause; 0 if there was no response."""
    while error is not None:
        status = getattr(getattr(error, "response", None), "status_code", 0)
        if status:
            return int(status)
        error = error.__cause__
    return 0


def render_head(stated: Mapping[str, Any]) -> str:
    """Return the head of a card as YAML that ends with a newline."""
    from huggingface_hub import DatasetCardData

    return DatasetCardData(**stated).to_yaml(line_break="\n") + "\n"


STATUSES: Sequence[tuple[Callable[[int], bool], str]] = (
    (
        lambda status: status == 429,
        "The Hub received too many requests and refuses {what} for now: try again in a few minutes.",
    ),
    (lambda status: status >= 500, "The Hub failed ({status}) for {what}: try again later."),
    (
        lambda status: status in (409, 412),
        "Somebody else changed {what} on the Hub at the same moment: check it and try again.",
    ),
    (
        lambda status: status >= 400,
        "The Hub refused {what} ({status}): check the name, and the permissions of HF_TOKEN.",
    ),
)


def _explain(error: Exception, what: str, endpoint: str) -> str:
    from huggingface_hub.errors import GatedRepoError, RepositoryNotFoundError, RevisionNotFoundError

    if isinstance(error, GatedRepoError):
        return f"{what} is gated: accept its conditions on its page, and set HF_TOKEN to a token of that account."
    if isinstance(error, RevisionNotFoundError):
        return f"{what} has no such revision on the Hub: give an existing commit, branch or tag."
    if isinstance(error, RepositoryNotFoundError) or get_status(error) in (401, 403, 404):
        return f"{what} is not on the Hub, or it is private: check the name, and set HF_TOKEN to a token with access."
    status = get_status(error)
    for fits, sentence in STATUSES:
        if fits(status):
            return sentence.format(what=what, status=status)
    return (
        f"The Hub at {endpoint} cannot be reached for {what} ({type(error).__name__}): check the "
        "connection, and HF_ENDPOINT if it is set; then try again."
    )


STORES = ("amazonaws.com",)
"""Hosts for uploads of large files, at signed addresses; the token is not sent to them."""

OWN_BY_HUB = frozenset((".gitattributes",))
"""Files that the Hub adds to a new data set."""


@dataclass(frozen=True, slots=True)
class Sent:
    """The result of sending a data set."""

    revision: str
    """The commit with the files."""
    changed: bool
    """True if there is a new commit."""
    created: bool
    """True if the data set is new."""


def look_before(hub: Hub, repo: str) -> Listing | None:
    """Return the current data set; None if it does not exist or the token has no access to it.

    Raises:
        InputError: there is no token, the Hub refuses it or cannot be reached, or CoEval did not create the data set.
    """
    if not hub.has_token:
        raise InputError(
            "There is no token for the Hub: set HF_TOKEN to a token with write access, and restart CoEval."
        )
    try:
        listing = hub.look(repo)
    except InputError as error:
        if get_status(error) == 404:
            return None
        raise
    if not listing.is_ours and set(listing.files) - OWN_BY_HUB:
        raise InputError(
            f"{repo} contains files that CoEval did not send: choose a new name, or an empty data set."
        )
    return listing


def send_files(hub: Hub, repo: str, paths: Sequence[Path], *, private: bool, message: str) -> Sent:
    """Upload these files to a data set in one commit, unless it already has them.

    Raises:
        InputError: the Hub refuses, or cannot be reached. The data set then has all of the new files or none.
    """
    standing = look_before(hub, repo)
    created = standing is None
    if standing is None:
        _create(hub, repo, private)
        standing = hub.look(repo)
    if private and not standing.private:
        raise InputError(f"{repo} is public: choose public visibility, or another name. Nothing was sent.")
    revision = _commit(hub, standing, paths, message)
    return Sent(revision, revision != standing.revision, created)


def _commit(hub: Hub, standing: Listing, paths: Sequence[Path], message: str) -> str:
    """Commit the files on top of the current commit; return the id of the new commit."""
    from huggingface_hub import CommitOperationAdd

    try:
        with hub.translated(standing.repo, *STORES), _quiet(), ExitStack() as files:
            # open file objects use our own client with its limits, and not the library's separate upload code
            operations = [
                CommitOperationAdd(path.name, files.enter_context(path.open("rb"))) for path in paths
            ]
            done = hub.api.create_commit(
                standing.repo, operations, commit_message=message, repo_type="dataset",
                parent_commit=standing.revision,
            )  # fmt: skip
            return str(done.oid)
    except InputError as error:
        if get_status(error) in range(400, 500):
            raise
        raise InputError(
            f"{error} The Hub may have received everything or nothing: send it again. Data that arrived is "
            "not sent twice."
        ) from error


def _create(hub: Hub, repo: str, private: bool) -> None:
    try:
        with hub.translated(repo):
            hub.api.create_repo(repo, repo_type="dataset", private=private)
    except InputError as error:
        if get_status(error) == 409:
            raise InputError(
                f"{repo} exists, but HF_TOKEN has no access to it: choose another name."
            ) from error
        raise


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence the library's progress bars and warnings."""
    from huggingface_hub.utils import (
        are_progress_bars_disabled,
        disable_progress_bars,
        enable_progress_bars,
        logging,
    )

    shown, level = not are_progress_bars_disabled(), logging.get_verbosity()
    disable_progress_bars()
    logging.set_verbosity_error()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if shown:
            enable_progress_bars()
