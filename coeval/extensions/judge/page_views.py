"""The content of each step of the Judge tab, as nodes."""

from __future__ import annotations

from coeval.domain import Arm
from coeval.extensions.judge.certificate.findings import number, spelled
from coeval.extensions.judge.certificate.frozen_judge import FrozenJudge
from coeval.extensions.judge.certificate.html_page import NO_PROMISE, PROMISE
from coeval.extensions.judge.certificate.schema import Certificate
from coeval.extensions.judge.certification import confirm_opening
from coeval.extensions.judge.seal_types import Part
from coeval.extensions.judge.state import JudgeState
from coeval.stats.estimates import plural
from coeval.ui.components.view import Node, el, scrolling, table

Cells = list[list[Node | None]]

PARTS = {Part.DEV: "to fit on", Part.CERTIFICATE: "sealed"}
ARMS = {
    Arm.BLIND: "blind",
    Arm.FIRST: "before the draft was shown",
    Arm.EVIDENCE: "with the evidence marked",
    Arm.REASONS: "with the evidence and reasons in view",
    Arm.ASSISTED: "with the draft in view",
    Arm.UNDRAFTED: "with no draft to show yet",
}


def ask_view(n_documents: int, share: float) -> Node:
    """Return what sealing does, before an owner confirms it."""
    return el(
        "div.banner.warn",
        el(
            "p",
            f"About {share:.0%} of {plural(n_documents, 'document')} will be sealed. The judge cannot learn "
            "from them; they only test it. Neither the split nor the share can be changed later.",
        ),
        role="alert",
    )


def seal_view(state: JudgeState) -> list[Node]:
    """Return the numbers of sealed documents, and the seal's promise."""
    promise = el(
        "details",
        el("summary", "What the seal guarantees, and what it does not"),
        el("p.note", PROMISE),
        el("p.note", NO_PROMISE),
    )
    if state.seal is None:
        return [el("p", f"Not sealed yet: the task has {plural(state.n_documents, 'document')}."), promise]
    said = (
        f"{plural(state.documents[Part.DEV], 'document')} to fit on and {state.documents[Part.CERTIFICATE]:,} sealed, "
        f"a share of {state.seal.share:.0%}: split for good on {state.seal.sealed_at[:10]} by {state.seal.sealed_by}."
    )
    shown: list[Node] = [el("p", said)]
    new = state.n_documents - sum(state.documents.values())
    if new > 0:
        shown.append(
            el(
                "p.note",
                (f"{plural(new, 'document')} imported since: the next step assigns each to a part."),
            )
        )
    order = list(ARMS)
    rows: Cells = [
        [PARTS[part], ARMS[arm], f"{documents:,}", f"{people:,}", f"{scores:,}"]
        for (part, arm), (people, documents, scores) in sorted(
            state.counts.items(), key=lambda pair: (pair[0][0] is Part.CERTIFICATE, order.index(pair[0][1]))
        )
    ]
    if rows:
        names = ["Documents are", "Scores were given", "Documents", "People", "Scores"]
        shown.append(scrolling("Scores by part", table(names, rows)))
    return [*shown, el("p.note", _which_labels(state)), promise]


def _which_labels(state: JudgeState) -> str:
    sealed = {arm for part, arm in state.counts if part is Part.CERTIFICATE}
    if not sealed:
        return "Nobody has scored a sealed document yet: a certificate needs some."
    if sealed & {Arm.BLIND, Arm.FIRST}:
        return "The certificate will use only blind scores and scores from before the draft was shown."
    return (
        "All scores of sealed documents were given with the draft in view, and people lean "
        "towards a draft: the certificate will say so in its first line. For better scores, use "
        "a blind arm (Set-up, Tasks, Study design)."
    )


def learned_view(frozen: FrozenJudge | None, fitted_at: str) -> list[Node]:
    """Return the baselines, the tried steps and the kept steps."""
    if frozen is None:
        return [el("p", "No judge is fitted yet.")]
    dev = frozen.dev
    lean = ", with the draft in view" if dev.leaned else ""
    rest = (
        f"From {plural(dev.scores, 'score')} by {plural(dev.people, 'person', 'people')} of "
        f"{plural(dev.documents, 'document')} to fit on ({dev.arms}{lean}); frozen on "
        f"{fitted_at[:16].replace('T', ' ')} UTC."
    )
    kept = (
        el("ul", *(el("li", sentence) for sentence in frozen.kept))
        if frozen.kept
        else el(
            "p.note", "No step helped by more than noise, so the judge stays as it is. That is a result too."
        )
    )
    error = (
        f"Error (RMSE) by cross-validation: {spelled(frozen.before)} before, {spelled(frozen.after)} after."
    )
    beaten: Cells = [
        [baseline.name, f"{baseline.lines:,}", spelled(baseline.rmse), baseline.note]
        for baseline in frozen.baselines
    ]
    return [
        el("p", rest),
        el("h4", "What was kept"),
        kept,
        el("p", error),
        el("h4", "Baselines"),
        scrolling("Baselines", table(["Who scores", "Lines", "RMSE (95% interval)", "How"], beaten)),
        _tried_view(frozen),
    ]


def _tried_view(frozen: FrozenJudge) -> Node:
    rows: Cells = [
        [
            step.step,
            step.words,
            step.criterion or "all",
            spelled(step.gain),
            number(step.p_value) if step.p_value is None or step.p_value >= 0.005 else "< 0.01",
            el("strong", "kept") if step.kept else step.reason or "another helped more",
        ]
        for step in frozen.tried
    ]
    note = (
        "Each candidate is compared with the previous judge, on documents that it did not learn "
        "from. Gain: the decrease in mean "
        "squared error (when to ask a person: the increase in agreement), with its 95% interval over documents. A step "
        f"is kept if its one-sided p-value is below {frozen.tried[0].bound:.2g}: if no step helps, at most 5% of "
        "studies keep one."
        if frozen.tried
        else "No step could be tried."
    )
    names = ["Step", "Candidate", "Criterion", "Gain", "p", "Outcome"]
    return el(
        "details",
        el("summary", f"All comparisons tried: {plural(len(frozen.tried), 'comparison')}"),
        el("p.note", note),
        scrolling("All comparisons", table(names, rows)),
    )


def opening_view(state: JudgeState) -> list[Node]:
    """Return a view of the earlier openings, with the text that confirms the next one."""
    times = len(state.openings)
    if state.frozen is None:
        return [el("p", "Learn first: only a frozen judge can be certified.")]
    told = (
        "The seal has not been opened yet."
        if not times
        else f"The seal was opened {plural(times, 'time')} before."
    )
    shown: list[Node] = [
        el(
            "p",
            f"{told} Each opening is recorded permanently and listed on every later certificate. Only the "
            "first opening uses labels that nobody has tested a judge on.",
        ),
        el("p", "To open it now, type ", el("strong", confirm_opening(times + 1)), "."),
    ]
    if times:
        rows: Cells = [
            [
                str(opening.number),
                opening.opened_at[:16].replace("T", " "),
                opening.opened_by,
                el("code", opening.judge_hash[:12]),
                "certificate" if opening.certificate else "opened without a result",
            ]
            for opening in state.openings
        ]
        shown.append(scrolling("Openings", table(["Opening", "When (UTC)", "By", "Judge", "Outcome"], rows)))
    return shown


def certificate_view(state: JudgeState, slug: str, *, owner: bool) -> list[Node]:
    """Return the newest certificate's sentences, with the links for its export."""
    links: list[Node] = []
    if owner and state.frozen is not None and not state.imported:
        links.append(el("a.button", "judge.json", href=f"download/{slug}/judge/judge.json", download=""))
        texts = f"download/{slug}/judge/judge.json?texts=1"
        links.append(el("a", "with the texts for a later check", href=texts, download=""))
    if not state.certificates:
        nothing = el("p", "There is no certificate yet.")
        return [nothing, el("p.ways", *links)] if links else [nothing]
    newest: Certificate = state.certificates[-1]
    base = f"download/{slug}/judge/certificate"
    ways = el(
        "p.ways",
        el("a.button", "Read the certificate", href=f"{base}.html", target="_blank"),
        el("a", "as HTML", href=f"{base}.html?save=1", download=""),
        el("a", "as JSON", href=f"{base}.json", download=""),
        *links,
    )
    other = state.frozen is not None and newest.hashes.judge != state.frozen.hash
    stale = (
        el(
            "p.banner.warn",
            "This certificate is for an earlier judge: the newest judge has none.",
        )
        if other
        else None
    )
    warn = newest.people.leaned or newest.opening > 1
    first = el("div.banner.warn" if warn else "div.banner", *(el("p", item) for item in newest.findings[:2]))
    return [
        *([stale] if stale else []),
        first,
        el("ul", *(el("li", sentence) for sentence in (*newest.findings[2:], newest.bridge) if sentence)),
        el("h4", "Limits of this certificate"),
        el("ul", *(el("li", sentence) for sentence in newest.limits)),
        ways,
    ]
