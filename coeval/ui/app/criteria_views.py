"""The read-only parts of the Criteria tab: the task card, the tally, the final set."""

from __future__ import annotations

from collections.abc import Sequence

from coeval.domain import Action, CriteriaSet, Criterion, Origin, Task
from coeval.language import later, tr
from coeval.rules.ballots import ActionRates, ProposalTally, Tally
from coeval.ui.app.step_json import name_field
from coeval.ui.components.next_step import name_steps
from coeval.ui.components.number_words import percent, plural
from coeval.ui.components.view import Node, el
from coeval.usecases.criteria_rounds import OtherRound, RoundState

TAGS = {
    "demo": later("demo: written for this project"),
    "simulated": later("simulated: no person and no model took part"),
}


def task_card(task: Task) -> Node:
    demo = el("span.tag", tr(TAGS[task.origin])) if task.origin in TAGS else None
    return el(
        "div.card.task-card",
        el("div", el("h4", tr("Task"), " ", demo), el("p", task.description or task.name, dir="auto")),
        el("div", el("h4", tr("Input")), el("p", name_field(task.input_field), dir="auto")),
        el("div", el("h4", tr("Output")), el("p", name_field(task.output_field), dir="auto")),
        el("div", el("h4", tr("Scale")), el("p", str(task.scale), dir="ltr")),
    )


def own_data_view() -> Node:
    """Return links that lead from the demo to the owner's own study."""
    return el(
        "div.card.steps",
        el("p", el("b", "This is an example to try. "), "For a study of your own, start with a table of outputs: ",
           el("a", "import your own data", href="admin?tab=import"), "."),
        el("p.note", name_steps()),
    )  # fmt: skip


def next_words(slug: str, tally: Tally | None) -> list[Node]:
    """Return the owner's next step until there is a criteria set; ``tally`` is that of the open vote."""
    invite = el("a", "invite people", href=f"admin?task={slug}&tab=people")
    if tally is None:
        return ["draft or write criteria below, then have people vote"]
    if not tally.n_ballots:
        return ["decide on each criterion below, save your ballot, and ", invite, " to vote"]
    return ["once all have voted, finalise the criteria below; or ", invite, " to vote"]


def to_scrutiny(slug: str) -> Node:
    """Return the link to Scrutiny for voters, once the criteria are final."""
    link = el("a", tr("scrutinise the instances"), href=f"?task={slug}&tab=scrutiny")
    return el("div.card.steps", el("p", tr("The criteria are final. Next:"), " ", link, "."))


def no_task_view(owner: bool) -> Node:
    body: Node = (
        el("p", "Describe one in ", el("a", "Set-up", href="admin"), ", or import a CSV file there.")
        if owner
        else el("p", tr("An owner describes the first task in Set-up."))
    )
    return el("div.card.empty", el("h3", tr("There is no task yet")), body)


def stack(rates: ActionRates) -> Node:
    """Return a bar with the shares of the actions, and a description for screen readers."""
    words = words_of(rates)
    parts = [
        el(f"i.{action}", width=share, title=f"{action} {percent(share)}")
        for action in Action
        if (share := getattr(rates, action.value))
    ]
    return el("div.stack", *parts, role="img", aria_label=words)


def words_of(rates: ActionRates) -> str:
    shares = [(action, getattr(rates, action.value)) for action in Action]
    return " · ".join(f"{action} {percent(share)}" for action, share in shares if share) or "no votes yet"


def tally_view(tally: Tally | None, open_: bool) -> Node | None:
    """Return the owner's count of the newest round."""
    if tally is None or not (open_ or tally.n_ballots):
        return None
    expected = tally.n_ballots + len(tally.waiting)
    ballots = (
        f"{tally.n_ballots} of {plural(expected, 'ballot')}" if open_ else plural(tally.n_ballots, "ballot")
    )
    state = "" if open_ else " · closed"
    groups = tally.by_group.items() if len(tally.by_group) > 1 else ()
    return el(
        "div",
        el(
            "div.card",
            el("h4", f"Tally · {ballots}{state}"),
            *(_proposal_tally(proposal, open_) for proposal in tally.proposals),
            *(el("p.added-line", el("span.tag", "added"), f" {addition.text}") for addition in tally.added),
        ),
        el(
            "div.card",
            el("h4", "So far"),
            el("p", words_of(tally.overall)),
            *(el("p.note", f"{group}: {words_of(rates)} (n {rates.n})") for group, rates in groups),
            el("p.note", f"{tally.overall.n} votes on all criteria, including added ones"),
        ),
    )


def _proposal_tally(tallied: ProposalTally, open_: bool) -> Node:
    tied = " or ".join(tallied.tied)
    ends = f"A tie: {tied}? Decide below." if open_ else f"The votes were tied: {tied}."
    tie = el("p.note", ends) if tied else None
    return el(
        "div.tally",
        el("p", tallied.proposal.text),
        stack(tallied.rates),
        el("p.note", words_of(tallied.rates)) if tallied.rates.n else None,
        tie,
    )


def established_view(current: CriteriaSet | None) -> Node | None:
    if current is None:
        return None
    from_model = sum(criterion.origin is Origin.LLM for criterion in current.criteria)
    when = current.established_at[:10]
    return el(
        "div.card",
        el("h4", tr("Final criteria · version {version}", version=current.version)),
        el("ol.criteria", *(_criterion_line(criterion) for criterion in current.criteria)),
        el(
            "p.note",
            tr(
                "{n} of {total} drafted by the model · final since {when}, by {name}",
                n=from_model,
                total=len(current.criteria),
                when=when,
                name=current.established_by,
            ),
        ),
    )


def _criterion_line(criterion: Criterion) -> Node:
    """Return a criterion with its scoring guide, if any."""
    guide = criterion.guide
    meanings = (
        el("li", el("b", f"{score} "), el("span", meaning, dir="auto")) for score, meaning in guide.anchors
    )
    return el(
        "li",
        el("span", criterion.text, dir="auto"),
        el("p.note", guide.definition, dir="auto") if guide.definition else None,
        el("ul.anchors", *meanings) if guide.anchors else None,
        el("details", el("summary", tr("Examples")), el("p.note", guide.examples, dir="auto"))
        if guide.examples
        else None,
    )


def waiting_view(owner: bool) -> Node:
    how = (
        "Draft criteria with a model, or write them, in the next box. The vote then opens."
        if owner
        else tr("An owner drafts or writes the criteria; they then appear here for your vote.")
    )
    return el("div.card.empty", el("h3", tr("Nothing to vote on yet")), el("p", how))


def model_hint(has_model: bool, model: str) -> Node:
    if has_model:
        return el("p.note", f"Model: {model}. Usable answers are saved, and repeating them is free.")
    return el(
        "p.note",
        "No model is set up, so nothing new can be drafted; everything else works. To add one, set ",
        el("code", "OPENAI_API_KEY"),
        ", or ",
        el("code", "OPENAI_BASE_URL"),
        " for any OpenAI-compatible server (vLLM, llama.cpp, Ollama, a proxy), and restart CoEval. ",
        "You can also write the criteria yourself.",
    )


def ballot_title(round_: RoundState) -> Node:
    return el(
        "div",
        el(
            "h4",
            tr("Your ballot · version {version} · round {round}", version=round_.version, round=round_.round),
        ),
        el("p.note", tr("Give a reason if you delete or revise.")),
    )


def settle_title() -> Node:
    return el(
        "div",
        el("h4", "Decide and finalise"),
        el(
            "p.note",
            "The majority’s choices are filled in. Break ties, edit wordings, and drop or keep criteria.",
        ),
    )


def replace_view(round_: RoundState, n_ballots: int) -> Node:
    """Return the consequences if another vote replaces the open one."""
    cast = plural(n_ballots, "ballot") if n_ballots else "no ballot yet"
    return el(
        "div",
        el("h4", f"Replace the open vote on version {round_.version}?"),
        el(
            "p",
            f"Round {round_.round} has {cast}. In the new vote, everybody votes again. The ballots are kept, and you "
            "can take this vote up again under “Other votes”.",
        ),
    )


def other_round_label(other: OtherRound) -> str:
    origin = "drafted during a vote" if other.waits else plural(other.n_ballots, "ballot")
    return f"Round {other.round}: {plural(len(other.proposals), 'criterion', 'criteria')}, {origin}"


def other_rounds_view(rounds: Sequence[OtherRound]) -> Node:
    """Return the criteria of each vote that can be taken up again."""
    return el(
        "div",
        *(
            el(
                "details",
                el("summary", other_round_label(other)),
                el("ol.criteria", *(el("li", proposal.text, dir="auto") for proposal in other.proposals)),
            )
            for other in rounds
        ),
    )
