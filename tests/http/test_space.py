"""A Hugging Face Space: its owner, its storage, its address, and what the first page says of them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from coeval import settings as module
from coeval.cli.serve import check_address
from coeval.domain import Role
from coeval.errors import InputError
from coeval.settings import Settings, SignIn, load_settings
from coeval.store import Store
from coeval.ui.run import build_app
from coeval.ui.server.identity import COOKIE
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.accounts import Profile, sign_in_by_huggingface, tell_first_run
from coeval.usecases.hosting.replication import WIPED, get_alert
from coeval.usecases.sessions import sign_in

HOST = "https://julia-study.hf.space"
SPACE = {
    "SPACE_ID": "julia/study",
    "SPACE_HOST": "julia-study.hf.space",
    "SPACE_AUTHOR_NAME": "julia",
    "OAUTH_CLIENT_ID": "client",
    "OAUTH_CLIENT_SECRET": "secret",
    "OPENID_PROVIDER_URL": "https://provider.test",
}
"""The variables of a Space that runs the README as it is."""


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that counts as the mount of persistent storage."""
    path = tmp_path / "data"
    path.mkdir()
    monkeypatch.setattr(module, "SPACE_DISK", path)
    monkeypatch.setattr(os.path, "ismount", lambda place: Path(place) == path)
    return path


def context_of(folder: Path, **env: str) -> Context:
    settings = load_settings(SPACE | env, db=folder / "coeval.db")
    return Context(Store(folder / "coeval.db"), settings)


def test_the_readme_alone_makes_the_spaces_owner_the_studys_owner(tmp_path: Path) -> None:
    context = context_of(tmp_path)
    assert context.settings.sign_in is SignIn.HUGGINGFACE
    told, *_ = tell_first_run(context)
    assert "julia, who owns the Space" in told and "COEVAL_OWNER" in told
    other, _ = sign_in_by_huggingface(context, Profile("7", "somebody"))
    assert other.role is Role.ANNOTATOR and tell_first_run(context)
    owner, _ = sign_in_by_huggingface(context, Profile("42", "Julia"))
    assert owner.role is Role.OWNER and tell_first_run(context) == []
    # whoever takes over the name later is somebody else
    later, _ = sign_in_by_huggingface(context, Profile("43", "julia"))
    assert later.role is Role.ANNOTATOR


def test_a_typed_name_owns_nothing_on_a_space(tmp_path: Path) -> None:
    with pytest.raises(Exception, match="name alone"):
        sign_in(context_of(tmp_path), "julia")
    names = load_settings(SPACE | {"COEVAL_SIGN_IN": "names"}, db=tmp_path / "x.db")
    with pytest.raises(InputError, match="does not listen"):
        check_address(names.host, names)
    without = load_settings({"SPACE_ID": "julia/study", "SPACE_AUTHOR_NAME": "julia"}, db=tmp_path / "x.db")
    with pytest.raises(InputError, match="hf_oauth: true") as refused:
        check_address(without.host, without)
    assert "127.0.0.1" not in str(refused.value) and "invite" not in str(refused.value)


def test_data_goes_to_the_mount_and_is_safe_there(disk: Path) -> None:
    mounted = load_settings(SPACE)
    assert mounted.db == disk / "coeval.db" and not mounted.is_wiped
    assert not load_settings(
        SPACE | {"COEVAL_SNAPSHOT_DIR": str(disk / "copies")}, db="/elsewhere/x.db"
    ).is_wiped
    assert load_settings(SPACE, db="/elsewhere/x.db").is_wiped
    assert load_settings({}).db == module.DEFAULT_DB and not load_settings({}).is_wiped


def test_a_mount_that_cannot_be_written_is_named_and_no_empty_study_begins(
    disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(InputError, match=f"storage at {disk}, but CoEval may not write there"):
        load_settings(SPACE)
    assert load_settings(SPACE | {"COEVAL_DB": "/elsewhere/x.db"}).is_wiped


def test_the_pages_say_in_red_that_a_restart_deletes_everything(tmp_path: Path) -> None:
    context = context_of(tmp_path)
    client = TestClient(build_app(context), base_url=HOST, follow_redirects=False)
    first = client.get("/signin").text
    assert (
        f'<p class="error" role="alert">{WIPED}'.replace("'", "&#39;") in first and "julia, who owns" in first
    )
    assert 'target="_blank"' in first
    assert get_alert(context, OPERATOR) == WIPED and "not on persistent storage at /data" in WIPED
    _, token = sign_in_by_huggingface(context, Profile("7", "somebody"))
    guest = client.get("/s/", headers={"Cookie": f"__Host-{COOKIE}={token}"}).text
    assert "have no role here yet" in guest and "julia, who owns the Space, becomes its owner" in guest
    sign_in_by_huggingface(context, Profile("42", "julia"))
    assert "deletes everything" not in client.get("/signin").text


@pytest.mark.parametrize(
    ("env", "address"),
    [
        ({}, ("127.0.0.1", 7860)),
        ({"SPACE_ID": "julia/study"}, ("0.0.0.0", 7860)),
        ({"GRADIO_SERVER_NAME": "0.0.0.0", "GRADIO_SERVER_PORT": "7861"}, ("0.0.0.0", 7861)),
        (
            {"GRADIO_SERVER_NAME": "0.0.0.0", "COEVAL_HOST": "127.0.0.1", "COEVAL_PORT": "8000"},
            ("127.0.0.1", 8000),
        ),
    ],
)
def test_the_address_is_gradios_unless_ours_is_set(env: dict[str, str], address: tuple[str, int]) -> None:
    settings: Settings = load_settings(env)
    assert (settings.host, settings.port) == address
