"""The content of the Crowd page: a study's state and address, people and progress, and waiting exams."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from coeval.domain import Attempt, Participant, Plan, Proof, ReturnRequest, Standing, StudyState
from coeval.settings import Settings
from coeval.ui.components.number_words import plural
from coeval.ui.components.view import Node, el, table
from coeval.ui.crowd_pages.participant_views import show_attempts
from coeval.usecases.crowd.link_signing import build_address
from coeval.usecases.crowd.overview import Overview, Row


def build_status(slug: str, plan: Plan | None, secret: str, settings: Settings) -> Node:
    """Return the card above the form."""
    if plan is None:
        text = "Everyone on the team gets every instance."
        return el("div.card", el("h4", "Assignment"), el("p", text))
    state = f"This study is {plan.state}" + (", because it has all it needs" if plan.reason == "full" else "")
    if plan.state is StudyState.PLANNED:
        state = "This study is planned: until you run it, everyone on the team works as before"
    return el(
        "div.card",
        el("h4", state),
        el(
            "p",
            "The address for the crowd service: ",
            el("code", build_address(slug, plan, secret, settings.address)),
            " ",
            el("a", "Open it", href=f"../s/{slug}", target="_blank"),
        ),
        *(el("p.warn", text) for text in _warnings(plan, settings)),
        _secure_links_steps() if plan.terms.proof == Proof.TOKEN and plan.terms.service else None,
    )


def _warnings(plan: Plan, settings: Settings) -> Iterator[str]:
    """Return warnings for an owner before people come."""
    terms = plan.terms
    if not settings.public_url:
        yield (
            "This address works on this machine only. Start CoEval with COEVAL_URL set to the address that "
            "people open, and copy it from here again."
        )
    if terms.service and terms.proof == Proof.NONE:
        yield (
            "Links are not verified, so anyone can take part under an unused id. Choose"
            " Prolific’s secure links, or a secret in the address."
        )
    if terms.service and terms.proof != Proof.TOKEN:
        yield (
            "These links do not prove who comes: every worker can read them. A returning person needs the browser they"
            " came with or their return code; without either, they wait for you below. "
            "A new person gets one instance until the first save."
        )
    if terms.service and not terms.code_done:
        yield "There is no completion code, so people have nothing to show at the end."
    if terms.service and terms.code_done and not (terms.code_part or terms.code_full or terms.code_screened):
        yield "People who finish a part of the work get no code: set “Code for partial work” under More settings."
    if terms.service and not (terms.code_full or terms.code_screened):
        yield "People who arrive when it is full get no code: set “Code if the study is full” under More settings."
    if terms.service and plan.exam and not terms.code_screened:
        yield "People who do not qualify get no code: set “Code if not qualified” under More settings."


def _secure_links_steps() -> Node:
    """Return the steps that turn on Prolific's signed links."""
    return el(
        "details",
        el("summary", "Prolific’s secure links, step by step"),
        el(
            "ol",
            el("li", "Save this plan with “Prolific links” and “Prolific’s secure links”."),
            el("li", "In Prolific, open the study (as a draft) and find “Data collection”, with the study’s URL."),
            el("li", "Paste the whole address from above as the URL."),
            el("li", "Turn on “Secured external URL” beside it, and save the study."),
            el("li", "Use Prolific’s “Preview”: CoEval must show the consent text. CoEval refuses links "
               "without Prolific’s signature, including previews."),
            el("li", "Publish. Prolific signs every link with the participant, the study and the session; nobody can "
               "change them."),
        ),
    )  # fmt: skip


# ---- people -------------------------------------------------------------------------------------------------

HEAD = [
    "Who", "State", "Finished", "Assigned", "Late", "Checks failed", "Planted caught", "Longest unchanged run",
    "Minutes", "Pay", "Suggestion", "Why",
]  # fmt: skip


def is_meant(participant: Participant, text: str) -> bool:
    """Return whether a search matches this submission by name or by an id of the service."""
    sought = text.strip().casefold()
    return any(
        sought in name.casefold()
        for name in (participant.name, participant.service_id, participant.study, participant.session)
    )


def find_rows(rows: Iterable[Row], text: str) -> list[Row]:
    """Return the submissions that match a search."""
    return [row for row in rows if is_meant(row.participant, text)]


PAGE = 25
"""Number of submissions on a page, and of displayed exams and requests."""
URGENCY = ("look", "approve", "reject", "screen out", "return", "wait")


def sort_rows(rows: Iterable[Row]) -> list[Row]:
    """Return the submissions: those that need a decision first, then in order of arrival."""
    return sorted(
        rows, key=lambda row: (row.state is not Standing.REVIEW, URGENCY.index(row.advice.suggestion))
    )


def count_pages(rows: list[Row]) -> int:
    return max(1, -(-len(rows) // PAGE))


def progress_view(slug: str, overview: Overview, agreement: str) -> Node:
    """Return the progress of a study."""
    k = overview.plan.per_instance
    total = sum(n for _, _, n in overview.places)
    full = sum(n for done, _, n in overview.places if done >= k)
    spread = "; ".join(
        f"{plural(n, 'instance')}: begun by {plural(taken, 'person', 'people')}, finished by {done}"
        if taken
        else f"{plural(n, 'instance')}: not begun"
        for done, taken, n in overview.places
    )
    arms = ", ".join(f"{arm} {n:,}" for arm, n in overview.arms.items())
    # one arm is no design: without drafts, its name would say that people saw them
    opened = f"Instances opened, once for each person: {sum(overview.arms.values()):,}" + (
        f", drawn as {arms}" if len(overview.arms) > 1 else ""
    )
    csv, currency = f"../s/{slug}/participants.csv", overview.plan.terms.currency
    return el(
        "div.card",
        el("h4", "People and progress"),
        el("p", f"{full:,} of {total:,} instances have all {k} people. {spread}."),
        el("p", f"{opened}. Pay for the time so far: {overview.cost:.2f} {currency}."),
        el("p", f"{agreement} See the Agreement tab for details."),
        el("p", el("a.button", "Submissions as CSV", href=csv, download=""), " ",
           el("a", "with the service's ids", href=f"{csv}?ids=1", download="")),
    )  # fmt: skip


def people_view(overview: Overview, rows: list[Row], page: int) -> Node:
    """Return a page of the submissions, with the suggested action for each."""
    if not rows:
        nobody = "Nobody has opened the study's page yet." if not overview.people else "No person matches."
        return el("p.note", nobody)
    shown = rows[(page - 1) * PAGE : page * PAGE]
    cells = [_person_cells(row, overview.plan.terms.currency) for row in shown]
    text = (
        f"{plural(len(rows), 'submission')}, page {page} of {count_pages(rows)}. "
        "Those that need a decision come first. Approve or reject them at the crowd service, which pays them."
    )
    return el("div", el("p.note", text), el("div.scroll", table(HEAD, cells)))


def returning_view(asked: list[ReturnRequest]) -> Node | None:
    """Return the requests of people to be let in as earlier participants."""
    if not asked:
        return None
    cells = [
        [request.name, request.number, request.asked_at[:16].replace("T", " ")] for request in asked[:PAGE]
    ]
    who = plural(len(asked), "browser asks", "browsers ask")
    return el(
        "div",
        el("h4", f"{who} to be let in"),
        el("p.note", "Each person came from an unknown browser, without a return code. Before you let "
        "people "
        "in, ask each of them through the crowd service for the number on their page. Their "
        "other browsers are then signed out, and they get a new return code."),
        table(["Who", "Number", "Asked (UTC)"], cells, cls="grid.compact"),
    )  # fmt: skip


def _person_cells(row: Row, currency: str) -> list[Node | None]:
    participant, habits, advice = row.participant, row.habits, row.advice
    caught = (
        f"{round(habits.caught * habits.n_planted)} of {habits.n_planted}"
        if habits and habits.caught is not None
        else "–"
    )
    return [
        participant.name, str(participant.state).replace("_", " "), str(participant.finished),
        str(participant.held), str(participant.timed_out),
        f"{participant.failed} of {participant.checks}", caught, str(habits.longest_streak) if habits else "–",
        f"{participant.wall_minutes:.1f}, active {participant.active_minutes:.1f}", f"{advice.pay:.2f} {currency}",
        advice.suggestion, advice.evidence,
    ]  # fmt: skip


def reviews_view(waiting: list[tuple[Participant, Attempt | None]]) -> Node | None:
    """Return the people whose exams wait for review, one per line; the items open on demand."""
    if not waiting:
        return None
    rows = [
        [
            participant.name,
            f"{attempt.right} of {attempt.items}, try {attempt.attempt}" if attempt else "no attempt",
            (attempt.at if attempt else participant.joined_at)[:16].replace("T", " "),
            el("details", el("summary", "Look at the answers"), *show_attempts((attempt,)))
            if attempt
            else None,
        ]
        for participant, attempt in waiting[:PAGE]
    ]
    more = f"{len(waiting) - PAGE:,} more wait." if len(waiting) > PAGE else ""
    who = plural(len(waiting), "person waits", "people wait")
    return el(
        "div.card",
        el("h4", f"{who} for a decision"),
        table(["Who", "Right", "Handed in", "Answers"], rows, cls="grid.compact"),
        el("p.note", more) if more else None,
    )
