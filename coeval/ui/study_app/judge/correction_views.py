"""What the Judge tab shows of examples, wordings and lines for people, as nodes."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence

from coeval.domain.seals import Wording
from coeval.judge.certificate.findings import counted
from coeval.judge.frozen import FrozenJudge
from coeval.judge.learning.examples import shorten_middle
from coeval.rules.ballots import same_words
from coeval.study.judging.deferring import Deferred
from coeval.study.judging.examples import ProposedExample
from coeval.study.scrutiny.asked import Asking
from coeval.ui.components.view import Node, el, table

SHOWN_TEXT, SHOWN_LINES = 400, 50
_TOKENS = re.compile(r"\s+|\w+|[^\w\s]")


def examples_view(proposed: Sequence[ProposedExample]) -> list[Node]:
    """Each example with its texts, what the judge and people said, and why it was chosen."""
    return [
        el(
            "section.sample",
            el("h4", f"Example {n}: {one.criterion}"),
            el("p.note", one.why),
            el("pre", shorten_middle(one.example.input, SHOWN_TEXT)),
            el("pre", shorten_middle(one.example.output, SHOWN_TEXT)),
            el("p", f"Score by people: {one.example.score:g}"),
            el("p", f"Why: {one.example.reason}") if one.example.reason else None,
        )
        for n, one in enumerate(proposed, 1)
    ]


def wording_view(wording: Wording) -> list[Node]:
    """A proposed wording as a difference from the criterion, with the meanings of scores that it proposes."""
    shown: list[Node] = [
        el("h4", f"Proposed wording of “{wording.before}”"),
        el("p.wording", *diff_nodes(wording.before, wording.text)),
    ]
    if same_words(wording.before) == same_words(wording.text):
        shown.append(el("p.note", "Meanings of scores alone go into the guide at once."))
    if wording.anchors:
        meanings = (el("li", f"{score}: {meaning}") for score, meaning in wording.anchors)
        shown += [el("p", "What a score means:"), el("ul", *meanings)]
    if wording.why:
        shown.append(el("p", f"Why: {wording.why}"))
    made = f"By {wording.model} on {wording.proposed_at[:10]}, from corrections of the documents to fit on."
    return [*shown, el("p.note", made)]


def diff_nodes(before: str, after: str) -> Iterator[Node]:
    """The words of both texts: those that go struck out, those that come marked.

    >>> [n if isinstance(n, str) else (n["tag"], *n["children"]) for n in diff_nodes("Be brief.", "Be short.")]
    ['Be ', ('del', 'brief'), ('ins', 'short'), '.']
    """
    old, new = _TOKENS.findall(before), _TOKENS.findall(after)
    for kind, i, j, k, m in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            yield "".join(old[i:j])
            continue
        if j > i:
            yield el("del", "".join(old[i:j]))
        if m > k:
            yield el("ins", "".join(new[k:m]))


def people_view(frozen: FrozenJudge | None, deferred: Deferred | None, asking: Asking | None) -> list[Node]:
    """What the threshold promises, what goes to people, and what the team is asked for now."""
    if frozen is None:
        return [el("p", "Learn first: it says when a person should be asked.")]
    if frozen.fitted.deferral is None or deferred is None:
        said = "No threshold was kept: the judge’s confidence did not predict where people agree with it."
        remedy = (
            "Several samples, log-probabilities or several judges give it a confidence to learn one from."
        )
        return [el("p", said), el("p.note", remedy)]
    left = (
        f"Of {counted(deferred.judged, 'line')} the judge leaves {deferred.to_people:,} to people; nobody has scored "
        f"{len(deferred.lines):,} of these."
    )
    shown: list[Node] = [el("p", left), el("p.note", frozen.fitted.deferral.computed)]
    if asking is not None:
        now = (
            f"Since {asking.asked_at[:16].replace('T', ' ')} UTC the team is asked for {counted(asking.lines, 'line')} "
            f"of {counted(asking.instances, 'instance')}, and for nothing else: {asking.scored:,} scored so far."
        )
        shown.append(el("p.banner", now))
    if deferred.lines:
        rows = [
            [one.instance, one.criterion, _number(one.score), _number(one.confidence)]
            for one in deferred.lines[:SHOWN_LINES]
        ]
        head = f"The list: {counted(len(deferred.lines), 'line')}, the least sure first"
        if len(deferred.lines) > SHOWN_LINES:
            head += f" ({SHOWN_LINES} shown; all with judge people --out)"
        grid = table(["Instance", "Criterion", "Judge’s score", "Confidence"], rows)
        scroll = el("div.scroll", grid, tabindex="0", role="group", aria_label="Lines for people")
        shown.append(el("details", el("summary", head), scroll))
    return shown


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
