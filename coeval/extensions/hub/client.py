"""The Hub over HTTP, through huggingface_hub: search, inspect and download a data set, and send one in one
commit.

Nothing but the Hub's own endpoint (``HF_ENDPOINT``) is asked, and where it sends us on to its own hosts; whatever goes
wrong is one sentence.
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


# The Hub over HTTP, through huggingface_hub: searching, looking at a data set, fetching files, writing
# a commit.
#
# Nothing but the Hub's own endpoint (``HF_ENDPOINT``) is asked, and where it sends us on to its own
# hosts; whatever goes wrong is one sentence.

MAX_PART = 1_000_000_000
"""Most bytes of a part, in all its files, that are downloaded."""

MAX_FILES = 1_000
TIMEOUT = 60.0
"""Seconds that the Hub may be silent."""

USUAL = "https://huggingface.co"
HOSTS = ("huggingface.co", "hf.co")
"""The Hub's own hosts and their subdomains, which store large files."""

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
        """Return all files of one of our published studies, as one part without a name."""
        names = (*NEEDED, *(file_of(config) for config in CONFIGS if file_of(config) not in NEEDED))
        return Part("", "", tuple((name, self.files[name]) for name in names if name in self.files))


class Hub:
    """The Hub at an endpoint. Without a token, only public data sets are visible."""

    def __init__(self, endpoint: str = "", token: str = "") -> None:
        from huggingface_hub import HfApi

        self.endpoint, self.has_token = endpoint or USUAL, bool(token)
        self.api: HfApi = HfApi(endpoint=self.endpoint, token=token or False)

    def search(self, words: str, limit: int = 20) -> list[str]:
        """Return the names of data sets that fit some words, the most downloaded first.

        Raises:
            InputError: the Hub cannot be asked.
        """
        with self.translated("the list of data sets"):
            return [
                info.id for info in self.api.list_datasets(search=words[:200], limit=limit, sort="downloads")
            ]

    def look(self, repo: str, revision: str = "") -> Listing:
        """Return a data set at the commit of a revision.

        Raises:
            InputError: there is none that the token may see, or the Hub cannot be asked.
        """
        with self.translated(repo):
            info = self.api.dataset_info(repo, revision=revision or None, files_metadata=True)
        files = {file.rfilename: file.size or 0 for file in info.siblings or ()}
        card = info.card_data.to_dict() if info.card_data else {}
        return Listing(repo, str(info.sha), bool(info.private), files, list_parts(files, card), card)

    def fetch(self, listing: Listing, part: Part, folder: Path) -> Path:
        """Return the files of a part in a folder: one file, or a folder of several.

        Raises:
            InputError: they are too large or too many, or do not arrive whole.
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
        """Contact only the Hub and ``further`` hosts, wait at most ``TIMEOUT``, and turn failures into one sentence."""
        hosts = _hosts.set((*_own_hosts(self.endpoint), *further))
        try:
            _bound_session()
            yield
        except CoevalError:
            raise
        except Exception as error:  # a network fails in many ways, and huggingface_hub passes all of them on
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
    """Give huggingface_hub's shared HTTP client a time limit, and let it refuse redirections elsewhere."""
    from huggingface_hub import get_session

    session = get_session()
    session.timeout = TIMEOUT
    hooks: dict[str, list[Callable[..., Any]]] = session.event_hooks
    if _refuse_elsewhere not in hooks["request"]:
        session.event_hooks = hooks | {"request": [*hooks["request"], _refuse_elsewhere]}


def _refuse_elsewhere(request: Any) -> None:
    own, host = _hosts.get(), request.url.host
    if own and not any(host == name or host.endswith("." + name) for name in own):
        raise InputError(f"The Hub redirected to {host}, which is not its own host: nothing was downloaded.")


def get_status(error: BaseException | None) -> int:
    """Return the status of the answer behind an error or its cause; 0 if there was no answer."""
    while error is not None:
        status = getattr(getattr(error, "response", None), "status_code", 0)
        if status:
            return int(status)
        error = error.__cause__
    return 0


def render_head(stated: Mapping[str, Any]) -> str:
    """Return the head of a card as YAML with a final line end."""
    from huggingface_hub import DatasetCardData

    return DatasetCardData(**stated).to_yaml(line_break="\n") + "\n"


STATUSES: Sequence[tuple[Callable[[int], bool], str]] = (
    (
        lambda status: status == 429,
        "The Hub received too many requests and refuses {what} for now: try again in some minutes.",
    ),
    (lambda status: status >= 500, "The Hub failed ({status}) at {what}; try again later."),
    (
        lambda status: status in (409, 412),
        "{what} was changed at the Hub at the same moment: look at it again.",
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
        return f"{what} has no such revision at the Hub: give an existing commit, branch or tag."
    if isinstance(error, RepositoryNotFoundError) or get_status(error) in (401, 403, 404):
        return (
            f"{what} is not at the Hub, or it is private: check the name, and set HF_TOKEN to a token "
            "with access."
        )
    status = get_status(error)
    for fits, sentence in STATUSES:
        if fits(status):
            return sentence.format(what=what, status=status)
    return (
        f"The Hub at {endpoint} cannot be reached for {what} ({type(error).__name__}): check the "
        "connection, and HF_ENDPOINT if it is set; then try again."
    )


# Upload of files to a data set of the Hub: the current state, and one commit of the changes.

STORES = ("amazonaws.com",)
"""Hosts to which the Hub sends large files, with signed addresses; its token is not sent there."""

OWN_BY_HUB = frozenset((".gitattributes",))
"""Files that the Hub itself adds to a new data set."""


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
    """Return the current data set; None if the token sees none.

    Raises:
        InputError: there is no token, it is refused, the Hub cannot be asked, or the data set is not one of ours.
    """
    if not hub.has_token:
        raise InputError(
            "No token of the Hub is set: set HF_TOKEN to a token with write access, and start CoEval again."
        )
    try:
        listing = hub.look(repo)
    except InputError as error:
        if get_status(error) == 404:
            return None
        raise
    if not listing.is_ours and set(listing.files) - OWN_BY_HUB:
        raise InputError(
            f"{repo} contains files that CoEval did not send: give an unused name, or an empty data set."
        )
    return listing


def send_files(hub: Hub, repo: str, paths: Sequence[Path], *, private: bool, message: str) -> Sent:
    """Upload these files to a data set in one commit, unless it already holds them.

    Raises:
        InputError: the Hub refuses, or cannot be reached. The data set then holds either all files or none of them.
    """
    standing = look_before(hub, repo)
    created = standing is None
    if standing is None:
        _create(hub, repo, private)
        standing = hub.look(repo)
    if private and not standing.private:
        raise InputError(f"{repo} is public: choose public, or another name. Nothing was sent.")
    revision = _commit(hub, standing, paths, message)
    return Sent(revision, revision != standing.revision, created)


def _commit(hub: Hub, standing: Listing, paths: Sequence[Path], message: str) -> str:
    """Commit the files on top of the current commit, and return the id of the resulting commit."""
    from huggingface_hub import CommitOperationAdd

    try:
        with hub.translated(standing.repo, *STORES), _quiet(), ExitStack() as files:
            # open files go over our own client, with its limits, and not through a library of its own
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
            f"{error} The Hub may have received all or nothing: send it again. Data that has arrived is "
            "not sent twice."
        ) from error


def _create(hub: Hub, repo: str, private: bool) -> None:
    try:
        with hub.translated(repo):
            hub.api.create_repo(repo, repo_type="dataset", private=private)
    except InputError as error:
        if get_status(error) == 409:
            raise InputError(
                f"{repo} exists, but HF_TOKEN has no access to it: give another name."
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
