"""What the two Crowd tabs show: a study's state and address, its people and progress, exams that wait."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from coeval.domain import Attempt, Participant, Plan, Proof
from coeval.study.crowd.overview import Overview, Row
from coeval.study.crowd.proof import build_address
from coeval.ui.components.estimate_words import plural
from coeval.ui.components.view import Node, el, table
from coeval.ui.crowd_pages.study_views import show_attempts


def build_status(slug: str, plan: Plan | None, note: str, secret: str, public_url: str) -> Node:
    """The card over the form."""
    if plan is None:
        text = "Everyone on the team gets every instance."
        return el("div.card", el("h4", "Giving out"), el("p", text), el("p.note", note) if note else None)
    state = f"This study is {plan.state}" + (", because it has all it needs" if plan.reason == "full" else "")
    return el(
        "div.card",
        el("h4", state),
        el(
            "p",
            "The address for the crowd service: ",
            el("code", build_address(slug, plan, secret, public_url)),
            " ",
            el("a", "Open it", href=f"../s/{slug}", target="_blank"),
        ),
        *(el("p.note", text) for text in _warnings(plan)),
        el("p", el("a", "See it as people will", href=f"../s/{slug}?preview=consent", target="_blank")),
        el("p.note", note) if note else None,
    )


def _warnings(plan: Plan) -> Iterator[str]:
    """What an owner should know before people come."""
    terms = plan.terms
    if terms.service and terms.proof == Proof.NONE:
        yield (
            "Warning: links are not verified, so anyone who knows an id can take part under it. Choose a secret in"
            " the address, or Prolific’s secure links. Until then, a returning person needs the browser they first"
            " used, or the word they chose."
        )
    if terms.proof == Proof.TOKEN:
        yield "In Prolific’s study, turn on “Secured external URL”: links without its signature are refused."
    if terms.service and not terms.code_done:
        yield "Warning: there is no completion code, so people have nothing to show at the end."
    if terms.service and not (terms.code_full or terms.code_screened):
        yield "Warning: people who arrive when the study is full get no code: set one."


# ---- people -------------------------------------------------------------------------------------------------

HEAD = [
    "Who", "State", "Finished", "With them", "Late", "Checks failed", "Planted caught", "Longest run kept", "Minutes",
    "Pay", "Suggestion", "Why",
]  # fmt: skip


def is_meant(participant: Participant, text: str) -> bool:
    """Whether a search means this submission: by name, or by an id of the service."""
    sought = text.strip().casefold()
    return any(
        sought in known.casefold()
        for known in (participant.name, participant.service_id, participant.study, participant.session)
    )


def find_rows(rows: Iterable[Row], text: str) -> list[Row]:
    """The submissions that a search means."""
    return [row for row in rows if is_meant(row.participant, text)]


def progress_view(slug: str, overview: Overview, rows: list[Row], agreement: str) -> Node:
    """How far a study is, and its submissions with what to do about each."""
    k = overview.plan.per_instance
    total = sum(n for _, _, n in overview.places)
    full = sum(n for done, _, n in overview.places if done >= k)
    spread = ", ".join(f"{n:,} with {done} done of {taken} given" for done, taken, n in overview.places)
    arms = ", ".join(f"{arm} {n:,}" for arm, n in overview.arms.items()) or "none opened yet"
    csv, currency = f"../s/{slug}/participants.csv", overview.plan.terms.currency
    cells = [_person_cells(row, currency) for row in rows]
    nobody = "Nobody has come by the study's page yet." if not overview.people else "No person matches."
    return el(
        "div.card",
        el("h4", "People and progress"),
        el("p", f"{full:,} of {total:,} instances have their {k} people. {spread}."),
        el("p", f"Arms: {arms}. Pay for the time so far: {overview.cost:.2f} {currency}."),
        el("p", f"{agreement} The study's tab Agreement has the rest."),
        el("div.scroll", table(HEAD, cells)) if cells else el("p.note", nobody),
        el("p", el("a.button", "Submissions as CSV", href=csv, download=""), " ",
           el("a", "with the service's ids", href=f"{csv}?ids=1", download="")),
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
    """Whose exams wait, a line each; the items open on demand."""
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
        for participant, attempt in waiting
    ]
    who = plural(len(waiting), "person waits", "people wait")
    return el(
        "div.card",
        el("h4", f"{who} for a decision"),
        table(["Who", "Right", "Handed in", "Answers"], rows, cls="grid.compact"),
    )
