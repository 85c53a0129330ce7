"""Set-up's People tab in Chromium: an account is disabled and enabled, and people are put in groups."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from coeval.domain import Role
from coeval.settings import OAuth, SignIn, load_settings
from coeval.store import Store
from coeval.ui.server.identity import COOKIE
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.accounts import Profile, build_link, invite, sign_in_by_huggingface
from coeval.usecases.sessions import list_members
from coeval.usecases.study_import import import_study
from tests.conftest import make_study
from tests.support.screens.ui_steps import unfold
from tests.support.serving.live_server import free_port
from tests.support.serving.server import Running, new_context

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

PASSWORD = "correct horse battery"


class Host:
    """A server with accounts and one study."""

    def __init__(self, context: Context, browser: Browser) -> None:
        self.context, self.browser = context, browser

    def accept(self, role: Role, name: str) -> Page:
        """Somebody in a browser of their own, who took up an invitation."""
        page = self.browser.new_context(viewport={"width": 1440, "height": 1000}).new_page()
        page.goto(build_link(self.context.settings, invite(self.context, OPERATOR, role)))
        page.get_by_label("Your name").fill(name)
        page.get_by_label("Choose a password").fill(PASSWORD)
        page.get_by_role("button", name="Continue").click()
        page.get_by_text(f"{name} · {role}").wait_for()
        return page

    def group_of(self, name: str) -> str:
        return next(str(m.group) for m in list_members(self.context, OPERATOR) if m.person.name == name)


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[Host]:
    port, path = free_port(), tmp_path_factory.mktemp("people") / "coeval.db"
    settings = replace(
        load_settings({}, db=path), sign_in=SignIn.ACCOUNTS, public_url=f"http://127.0.0.1:{port}"
    )
    context = Context(Store(path), settings)
    import_study(context, OPERATOR, make_study(1))
    with Running(context, port=port):
        yield Host(context, browser)


@pytest.fixture(scope="module")
def owner(host: Host) -> Page:
    return host.accept(Role.OWNER, "Olu")


def open_people(page: Page, host: Host) -> None:
    page.goto(f"{host.context.settings.public_url}/admin/?task=demo&tab=people")
    page.locator("#progress").get_by_text("Olu").wait_for()
    unfold(page)


def choose(page: Page, field: str, name: str) -> None:
    page.click(f"#{field} input")
    page.get_by_role("option", name=name).click()


def sign_in(page: Page, name: str) -> None:
    page.get_by_label("Your name").fill(name)
    page.get_by_label("Your password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()


def test_an_owner_disables_an_account_and_enables_it_again(host: Host, owner: Page) -> None:
    worker = host.accept(Role.ANNOTATOR, "Ana")
    open_people(owner, host)
    choose(owner, "role-name", "Ana")
    owner.click("#account-disable")
    owner.locator("#people-away summary").click()
    owner.locator("#people-away").get_by_text("disabled since").wait_for()
    worker.reload()
    sign_in(worker, "Ana")
    worker.get_by_text("This account is disabled; the work done with it is kept.").wait_for()
    owner.click("#account-enable")
    owner.locator("#progress").get_by_text("disabled since").wait_for(state="detached")
    sign_in(worker, "Ana")
    worker.get_by_text("Ana · annotator").wait_for()
    worker.context.close()


def test_an_owner_puts_people_in_a_group(host: Host, owner: Page) -> None:
    host.accept(Role.ANNOTATOR, "Ben").context.close()
    assert host.group_of("Ben") == "team"
    open_people(owner, host)
    choose(owner, "group-names", "Ben")
    owner.keyboard.press("Escape")
    owner.locator("#group-group").get_by_label("expert").check()
    owner.click("#group-save")
    owner.locator("#progress tr", has_text="Ben").get_by_text("expert").wait_for()
    assert host.group_of("Ben") == "expert"


def test_people_and_their_share_of_a_task_are_chosen(owner: Page, host: Host) -> None:
    ana = host.accept(Role.ANNOTATOR, "Tia")
    open_people(owner, host)
    names = owner.locator("#team-names input")
    for name in ("Olu", "Tia"):
        names.fill(name)
        owner.get_by_role("option", name=name, exact=True).click()
    names.press("Escape")
    owner.locator("#team-each input").fill("3")
    owner.get_by_role("button", name="Save people").click()
    owner.get_by_text("needs 3 people, but 2 are chosen").first.wait_for()
    owner.locator("#team-each input").fill("1")
    owner.get_by_role("button", name="Save people").click()
    table = owner.locator("#team-state table")
    table.wait_for()
    shares = [int(cell) for cell in table.locator("td:nth-child(2)").all_inner_texts()]
    assert sum(shares) == 2
    ana.close()


def test_an_invitation_is_made_and_taken_back_under_people(host: Host, owner: Page) -> None:
    open_people(owner, host)
    owner.click("#invite-make")
    link = owner.locator("#invite-link input, #invite-link textarea")
    owner.wait_for_function("document.querySelector('#invite-link input, #invite-link textarea').value")
    assert link.input_value().startswith(f"{host.context.settings.public_url}/invite/")
    key = owner.locator("#invite-open tbody tr td").first.inner_text()
    owner.fill("#invite-key input, #invite-key textarea", key)
    owner.click("#invite-revoke")
    owner.locator("#invite-open").get_by_text(key).wait_for(state="detached")


def test_a_guest_knows_their_name_and_goes_on_once_an_owner_gives_a_role(
    tmp_path: Path, browser: Browser
) -> None:
    """The guest's page named nobody and stayed; the owner's table called a guest an annotator, in the crowd."""
    new, port = new_context(tmp_path), free_port()
    settings = replace(
        new.settings, sign_in=SignIn.HUGGINGFACE, owner="olu", public_url=f"http://127.0.0.1:{port}",
        oauth=OAuth("http://127.0.0.1:9", "client", "secret"),
    )  # fmt: skip
    context = replace(new, settings=settings)
    import_study(context, OPERATOR, make_study(1))
    pages = []
    with Running(context, port=port):
        for subject, name in (("1", "olu"), ("2", "bob"), ("3", "cal")):
            _, token = sign_in_by_huggingface(context, Profile(subject, name))
            visit = browser.new_context(viewport={"width": 1440, "height": 1000})
            visit.add_cookies([{"name": COOKIE, "value": token, "url": settings.public_url}])
            pages.append(visit.new_page())
        owner, guest, _ = pages
        guest.goto(f"{settings.public_url}/?task=demo")
        guest.get_by_text("You are signed in as “bob”").wait_for()
        guest.get_by_role("button", name="Sign out").wait_for()
        owner.goto(f"{settings.public_url}/admin/?task=demo&tab=people")
        row = owner.locator("#progress tr", has_text="bob")
        row.get_by_text("guest").wait_for()
        assert (
            owner.locator("#people-address input, #people-address textarea")
            .input_value()
            .endswith("?task=demo")
        )
        owner.locator("#people-address").get_by_role("button", name="Copy").wait_for()
        owner.click("#role-save")  # a stray click gives nobody access
        owner.get_by_text("Choose a role first.").wait_for()
        owner.click("#team-names input")
        owner.get_by_role("option", name="olu").wait_for()
        assert not owner.get_by_role("option", name="bob").count()  # nobody judges the share of a guest
        owner.keyboard.press("Escape")
        choose(owner, "role-name", "bob")
        owner.locator("#role-role").get_by_label("annotator").check()
        owner.click("#role-save")
        row.get_by_text("team").wait_for()
        guest.locator("#me").get_by_text("bob · annotator").wait_for()
        for action in ("disable", "enable"):  # both act on the same person
            owner.click(f"#account-{action}")
            owner.get_by_text(f"The account of bob is {action}d.").wait_for()
        for page in pages:
            page.context.close()
