"""Settings from the environment. No other module reads os.environ."""

from __future__ import annotations

import getpass
import os
import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from ipaddress import ip_network
from pathlib import Path

from coeval.errors import InputError

PACKAGE = Path(__file__).resolve().parent
CHECKOUT = PACKAGE.parent if (PACKAGE.parent / "app.py").is_file() else None
"""The folder of the source code; None if CoEval was installed."""
DEFAULT_DB = (CHECKOUT or Path()) / "data" / "coeval.db"
DEMO_FOLDER = CHECKOUT / "data" / "demo" if CHECKOUT else PACKAGE / "demo"
"""The folder with the demo's texts; a wheel contains a copy."""
DEFAULT_MODEL = "gpt-4o-mini"
SNAPSHOT_MINUTES = 5.0
PROLIFIC_KEYS = "https://api.prolific.com/.well-known/study/jwks.json"
"""The address of Prolific's public keys, which verify its secure links."""
PROLIFIC_API = "https://api.prolific.com"
"""The address of Prolific's API."""
FIELD = re.compile(r"[\w.:/~+%,\[\]-]*")
"""Matches the characters of an address that may be shown."""
SPACE_OAUTH = ("SPACE_ID", "SPACE_HOST", "OAUTH_CLIENT_ID", "OAUTH_CLIENT_SECRET", "OPENID_PROVIDER_URL")
"""The variables that a Space with ``hf_oauth: true`` sets; sign-in with Hugging Face needs all of them."""
SPACE_DISK = Path("/data")
"""The place where a Space mounts its persistent storage, if it has any."""


LOOPBACK_PROXIES = ("127.0.0.0/8", "::1/128")
SPACE_PROXIES = (
    "127.0.0.0/8",
    "10.0.0.0/8",
    "172.16.0.0/12",
    "192.168.0.0/16",
    "100.64.0.0/10",
    "::1/128",
    "fc00::/7",
)
"""The private networks of a Space's own proxies. All other addresses belong to visitors."""


class SignIn(StrEnum):
    """The way people sign in: by name alone or by printed links (both on this machine only), with a password, or
    with Hugging Face.
    """

    NAMES = "names"
    ACCOUNTS = "accounts"
    HUGGINGFACE = "huggingface"
    LINKS = "links"
    """Only ``python -m coeval review`` has it; the environment cannot choose it."""


CHOICES = [SignIn.NAMES, SignIn.ACCOUNTS, SignIn.HUGGINGFACE]
"""The ways to sign in that ``COEVAL_SIGN_IN`` may name."""


@dataclass(frozen=True, slots=True)
class OAuth:
    """The Space's OAuth application at Hugging Face."""

    provider: str
    client_id: str
    client_secret: str

    def __repr__(self) -> str:
        return f"OAuth(provider={self.provider!r}, client_id={self.client_id!r}, client_secret set)"


@dataclass(frozen=True, slots=True)
class Snapshots:
    """The settings for copies of the database: their places (a folder, a Hub data set, both or neither) and
    their times.
    """

    folder: Path | None = None
    repo: str = ""
    token: str = ""
    endpoint: str = ""
    """The Hub's address; empty for the default one."""
    minutes: float = SNAPSHOT_MINUTES
    """Minutes between full copies; changes are sent at once."""

    def __repr__(self) -> str:
        token = "set" if self.token else "not set"
        return f"Snapshots(folder={self.folder}, repo={self.repo!r}, minutes={self.minutes}, token {token})"


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings from the environment. Secrets are only here, and ``repr`` leaves them out."""

    db: Path = DEFAULT_DB
    server: str = ""
    """The address of a database server, with its password; it replaces ``db``."""
    host: str = "127.0.0.1"
    port: int = 7860
    model: str = DEFAULT_MODEL
    base_url: str = ""
    api_key: str = ""
    api_version: str = ""
    """The version of Azure's API. If it is set, ``base_url`` is an Azure OpenAI endpoint."""
    timeout: float = 60.0
    """The time limit of one request to a model, in seconds."""
    concurrency: int = 8
    sign_in: SignIn = SignIn.NAMES
    owner: str = ""
    """The Hugging Face name of the first owner: on a Space by default that of the Space's owner."""
    space: str = ""
    """The Space that runs the app, as ``owner/name``; empty elsewhere."""
    owner_chosen: bool = False
    """True if ``COEVAL_OWNER`` names the owner; an organisation owns Spaces too, but cannot sign in."""
    oauth: OAuth | None = None
    public_url: str = ""
    """The public address of the app, without a final slash; empty if it serves only this machine."""
    proxies: tuple[str, ...] = LOOPBACK_PROXIES
    """Networks of the proxies in front of the app, whose headers about visitors are trusted."""
    snapshots: Snapshots = Snapshots()
    prolific_keys: str = PROLIFIC_KEYS
    prolific_api: str = PROLIFIC_API
    agent_token: str = ""
    """The token of the agent that a command serves."""
    prolific_token: str = ""
    """The API token to draft, publish and pay studies on Prolific; without it, owners do this by hand."""

    @property
    def address(self) -> str:
        """Return the full address of the app; without ``COEVAL_URL``, an address on this machine."""
        host = "localhost" if self.host in ("0.0.0.0", "::", "") else self.host
        return self.public_url or f"http://{f'[{host}]' if ':' in host else host}:{self.port}"

    @property
    def is_wiped(self) -> bool:
        """Return whether a restart deletes all data: a Space keeps only what is on its persistent storage."""
        places = [self.db, self.snapshots.folder]
        kept = any(place and _is_on_disk(place) for place in places)
        return bool(self.space) and not (kept or self.server or self.snapshots.repo)

    @property
    def behind_proxy(self) -> bool:
        """Return whether the app is behind a Space's proxy, whose headers about visitors are trusted."""
        return self.oauth is not None

    @property
    def has_model(self) -> bool:
        return bool(self.api_key or self.base_url)

    def __repr__(self) -> str:
        key = "set" if self.api_key else "not set"
        return (
            f"Settings(db={show_address(self.server) or str(self.db)!r}, model={self.model!r}, "
            f"base_url={show_address(self.base_url)!r}, api_key {key})"
        )


def _is_on_disk(path: Path) -> bool:
    """Return whether a path is on a Space's persistent storage, and the storage is a mount that we may write to."""
    there = path.absolute().is_relative_to(SPACE_DISK)
    return there and os.path.ismount(SPACE_DISK) and os.access(SPACE_DISK, os.W_OK)


HIDDEN = "…"
"""Replaces the rest of an address whose password cannot be located."""


def show_address(address: str) -> str:
    """Return an address without user name, password and parameters, to show and store.

    Unescaped characters in a password move its end into other fields. Only the scheme of such an address is
    shown.

    >>> show_address("https://me:secret@example.org/v1?token=secret")
    'https://example.org/v1'
    >>> show_address("postgresql://me:12/secret@example.org/study")
    'postgresql://…'
    """
    if not address:
        return ""
    # imported late: commands that show no address do not need it
    import httpx

    scheme = re.match(r"[a-z]{1,12}(?=://)", address)
    hidden = f"{scheme[0]}://{HIDDEN}" if scheme else HIDDEN
    try:
        url = httpx.URL(address)
    except (httpx.InvalidURL, ValueError):
        return hidden
    rest = address.partition("://")[2].partition("?")[0].partition("#")[0]
    place, slash, path = rest.partition("/")
    shown = f"{place.rpartition('@')[2]}{slash}{path}"
    # after an unescaped delimiter, the rest of the address with its "@" is in a later field
    if not scheme or address.count("@") > 1 or "@" in f"{path}{url.query!r}{url.fragment}":
        return hidden
    return f"{scheme[0]}://{shown}" if FIELD.fullmatch(shown) else hidden


def load_settings(env: Mapping[str, str] | None = None, *, db: str | Path | None = None) -> Settings:
    """Read the settings; ``db`` (from ``--db``) overrides ``COEVAL_DB``.

    The model can be on any server that speaks the OpenAI protocol: set ``OPENAI_BASE_URL``, with or without
    ``OPENAI_API_KEY``. For Azure OpenAI, set ``AZURE_OPENAI_ENDPOINT``, ``AZURE_OPENAI_API_KEY`` and
    ``OPENAI_API_VERSION``.

    Raises:
        InputError: COEVAL_SIGN_IN is unknown or conflicts with the other settings, COEVAL_PROXIES contains no
            network, the database address has a scheme that CoEval does not know, or a Space's storage cannot be
            written.
    """
    values = os.environ if env is None else env
    oauth = _load_oauth(values)
    azure = values.get("AZURE_OPENAI_ENDPOINT", "") if not values.get("OPENAI_BASE_URL") else ""
    space = values.get("SPACE_ID", "")
    owner = values.get("COEVAL_OWNER", "").strip()
    usual = SPACE_DISK / DEFAULT_DB.name if space and _is_on_disk(SPACE_DISK) else DEFAULT_DB
    stated = str(db or values.get("COEVAL_DB") or usual)
    if space and stated == str(DEFAULT_DB) and os.path.ismount(SPACE_DISK):
        # an empty study would begin, and the one that is kept there would look lost
        raise InputError(
            f"The Space has storage at {SPACE_DISK}, but CoEval may not write there: make it writable, or set "
            "COEVAL_DB to another place."
        )
    server = stated if is_server_address(stated) else ""
    return Settings(
        db=DEFAULT_DB if server else Path(stated),
        server=server,
        host=values.get("COEVAL_HOST")
        or values.get("GRADIO_SERVER_NAME")
        or ("0.0.0.0" if space else "127.0.0.1"),
        port=int(values.get("COEVAL_PORT") or values.get("GRADIO_SERVER_PORT") or values.get("PORT") or 7860),
        model=values.get("COEVAL_MODEL") or values.get("OPENAI_MODEL") or DEFAULT_MODEL,
        base_url=values.get("OPENAI_BASE_URL") or azure,
        api_key=(azure and values.get("AZURE_OPENAI_API_KEY")) or values.get("OPENAI_API_KEY", ""),
        api_version=values.get("OPENAI_API_VERSION", "") if azure else "",
        timeout=float(values.get("COEVAL_TIMEOUT") or 60),
        concurrency=int(values.get("COEVAL_CONCURRENCY") or 8),
        sign_in=_load_sign_in(values, oauth),
        owner=owner or values.get("SPACE_AUTHOR_NAME", "").strip(),
        owner_chosen=bool(owner),
        space=space,
        oauth=oauth,
        public_url=_load_url(values),
        proxies=_load_proxies(values, oauth),
        snapshots=_load_snapshots(values),
        prolific_keys=values.get("COEVAL_PROLIFIC_KEYS") or PROLIFIC_KEYS,
        prolific_api=(values.get("COEVAL_PROLIFIC_API") or PROLIFIC_API).rstrip("/"),
        agent_token=values.get("COEVAL_AGENT_TOKEN", "").strip(),
        prolific_token=values.get("PROLIFIC_TOKEN", "").strip(),
    )


def on_this_machine(settings: Settings) -> Settings:
    """Return the settings for a server that only the people with its printed links reach, and no copies leave."""
    return replace(
        settings,
        host="127.0.0.1",
        sign_in=SignIn.LINKS,
        oauth=None,
        public_url="",
        space="",
        proxies=LOOPBACK_PROXIES,
        snapshots=Snapshots(),
    )


def is_server_address(text: str) -> bool:
    """Return whether a text is the address of a database server and not a path.

    Raises:
        InputError: it is an address, but not of PostgreSQL.
    """
    if re.search(r"\b(?:password|host|hostaddr|dbname)\s*=", text) and "://" not in text:
        raise InputError(
            "The database address uses keywords, as in host=... password=...: write it as "
            "postgresql://user:password@host/name."
        )
    scheme, mark, _ = text.partition("://")
    if mark and scheme not in ("postgresql", "postgres"):
        raise InputError(
            f"“{show_address(text)}” is not a database that CoEval can use: name a file, or a PostgreSQL "
            "address such as postgresql://user:password@host/name."
        )
    return bool(mark)


def _load_sign_in(values: Mapping[str, str], oauth: OAuth | None) -> SignIn:
    stated = values.get("COEVAL_SIGN_IN", "").strip().lower()
    if not stated:
        return SignIn.HUGGINGFACE if oauth else SignIn.NAMES
    if stated not in CHOICES:
        raise InputError(f"COEVAL_SIGN_IN is “{stated}”: set it to one of {', '.join(CHOICES)}.")
    if stated == SignIn.HUGGINGFACE and oauth is None:
        missing = ", ".join(name for name in SPACE_OAUTH if not values.get(name))
        raise InputError(
            f"Sign-in by Hugging Face needs {missing}: a Space sets them when its README says hf_oauth: true."
        )
    return SignIn(stated)


def _load_oauth(values: Mapping[str, str]) -> OAuth | None:
    if not all(values.get(name) for name in SPACE_OAUTH):
        return None
    provider = values["OPENID_PROVIDER_URL"].rstrip("/")
    return OAuth(provider, values["OAUTH_CLIENT_ID"], values["OAUTH_CLIENT_SECRET"])


def _load_url(values: Mapping[str, str]) -> str:
    host = values.get("SPACE_HOST", "")
    return (values.get("COEVAL_URL") or (f"https://{host}" if host else "")).rstrip("/")


def _load_proxies(values: Mapping[str, str], oauth: OAuth | None) -> tuple[str, ...]:
    named = values.get("COEVAL_PROXIES", "").replace(",", " ").split()
    if not named:
        return SPACE_PROXIES if oauth else LOOPBACK_PROXIES
    for proxy in named:
        try:
            ip_network(proxy)
        except ValueError as error:
            raise InputError(
                f"COEVAL_PROXIES contains “{proxy}”: write addresses or networks separated by commas, "
                "such as 10.0.0.5, 172.16.0.0/12."
            ) from error
    return tuple(named)


def _load_snapshots(values: Mapping[str, str]) -> Snapshots:
    folder = values.get("COEVAL_SNAPSHOT_DIR", "")
    return Snapshots(
        folder=Path(folder) if folder else None,
        repo=values.get("COEVAL_SNAPSHOT_REPO", ""),
        token=values.get("HF_TOKEN", ""),
        endpoint=values.get("HF_ENDPOINT", "").rstrip("/"),
        minutes=float(values.get("COEVAL_SNAPSHOT_MINUTES") or SNAPSHOT_MINUTES),
    )


def bare_environment(**more: str) -> dict[str, str]:
    """Return the environment for a child process. It contains these values, but no keys and passwords."""
    secret = ("KEY", "TOKEN", "SECRET", "PASSWORD", "OPENAI_")
    kept = {name: value for name, value in os.environ.items() if not any(word in name for word in secret)}
    if "://" in kept.get("COEVAL_DB", ""):
        # an address may contain a password
        del kept["COEVAL_DB"]
    return kept | more


def prepare_numpy() -> None:
    """Set numpy's variables before its import: one thread for linear algebra, unless already set.

    Statistics multiply many small tables; waking a second thread for each costs a seventh more processor
    time.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def prepare_gradio() -> None:
    """Set Gradio's variables before its import, unless already set.

    By default, Gradio summarises all events so far at every event, for a page that we do not show; here it
    does so rarely. Its temporary files go into a folder of this user, because all users of the machine share
    the default folder, and the first user's files would keep others from starting.
    """
    os.environ.setdefault("GRADIO_ANALYTICS_CACHE_FREQUENCY", "1000")
    user = os.getuid() if hasattr(os, "getuid") else getpass.getuser()
    folder = Path(tempfile.gettempdir(), f"coeval-gradio-{user}")
    os.environ.setdefault("GRADIO_TEMP_DIR", str(folder))
