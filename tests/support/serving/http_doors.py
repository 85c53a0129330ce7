"""Every use case with the doors by which a person reaches it over HTTP, and how to knock there.

A door is knocked at for something of one's own, of another's, and something that does not exist: by default a
task that one works at, one that only others work at, and a short name that is nobody's.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from coeval.rules.arms import Aliases
from coeval.usecases.scrutiny.steps import get_aliases
from tests.support.serving.http_page import Answer, Page, ask
from tests.support.serving.http_world import World, slug_of

MAIN, SETUP = "", "/admin"
NO_SUCH_ID = 999_999
EITHER, OWN = ("own", "other"), ("own",)
ALL = ("own", "other", "none")

Knock = Callable[[World, str, str], Answer]
Fields = Callable[[World, Page, str, str], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Door:
    """One way to a use case. ``yes`` are the things that whoever may call it at all may call it for.

    ``part``: the use case is one part of a page that others see without it. ``says`` is in the answer where a
    use case that was entered cannot go on, for want of a model or the like.
    """

    use_case: str
    knock: Knock
    yes: Sequence[str] = EITHER
    tried: Sequence[str] = ALL
    part: bool = False
    says: str = ""


def at(method: str, path: str, base: str = "demo", **options: Any) -> Knock:
    """A request; ``{task}`` in the path is the short name."""

    def knock(world: World, who: str, which: str) -> Answer:
        return ask(world.browser(who), method, path.format(task=slug_of(base, which)), **options)

    return knock


def event(
    mount: str,
    trigger: str,
    kind: str = "click",
    *,
    task: str = "demo",
    out: str = "",
    first: Sequence[str] = (),
    before: Sequence[tuple[str, str, str]] = (),
    put: Fields | None = None,
    pick: bool = True,
) -> Knock:
    """An event of a Gradio page, after the tabs in ``first`` were opened and the fields filled in.

    ``before`` are further events (trigger, kind, what it fills in), fired before the fields are filled in.
    ``pick``: whether the thing that is one's own, another's or nobody's is the task.
    """

    def knock(world: World, who: str, which: str) -> Answer:
        page = world.open_page(who, mount)
        page.put({"task-picker": slug_of(task, which if pick else "own")})
        for tab in first:
            page.fire(tab, "select")
        for earlier in before:
            page.fire(*earlier)
        if put is not None:
            page.put(put(world, page, who, which))
        return page.fire(trigger, kind, out)

    return knock


def setup(trigger: str, kind: str = "click", **options: Any) -> Knock:
    return event(SETUP, trigger, kind, **options)


def fixed(**fields: Any) -> Fields:
    return lambda world, page, who, which: {name.replace("_", "-"): value for name, value in fields.items()}


# ---- whose --------------------------------------------------------------------------------------------------


def name_of(world: World, who: str, which: str) -> str:
    """One's own name, another's, or nobody's."""
    own = world.people[who if who in world.people else "annotator"].name
    return {"own": own, "other": world.people["other"].name, "none": "Nobody Here"}[which]


def named(field: str, *, repeat: str = "", **more: Any) -> Fields:
    """A person's name in a field, and, where it has to be typed twice, in another."""

    def fields(world: World, page: Page, who: str, which: str) -> dict[str, Any]:
        name = name_of(world, who, which)
        return {field: name, **({repeat: name} if repeat else {}), **fixed(**more)(world, page, who, which)}

    return fields


def chosen(field: str, *, repeat: str = "", **more: Any) -> Fields:
    """A person's name as the only one chosen of several in a field."""

    def fields(world: World, page: Page, who: str, which: str) -> dict[str, Any]:
        given = named(field, repeat=repeat, **more)(world, page, who, which)
        return given | {field: [given[field]]}

    return fields


def instance_of(world: World, who: str, which: str) -> int:
    own = world.saved[who if who in world.saved else "annotator"].instance
    return {"own": own, "other": world.saved["other"].instance, "none": NO_SUCH_ID}[which]


# ---- scrutiny: by the short name of the study, and by the instance ----------------------------------------------


def aliases_of(world: World, who: str, slug: str) -> Aliases:
    """The ids by which that person knows what is in a task."""
    return get_aliases(world.context, world.people[who if who in world.people else "annotator"], slug)


def body_of(world: World, who: str) -> dict[str, Any]:
    """What that person would send to revise what they saved."""
    sent = world.saved[who if who in world.saved else "annotator"]
    aliases = aliases_of(world, who, "work")
    return {
        "uid": str(uuid.uuid4()),
        "instance": aliases.hide("instance", sent.instance),
        "criterion": sent.criterion,
        "draft": aliases.hide("draft", sent.draft) if sent.draft else None,
        "revision": 1,
        "score": 2,
        "rows": [{"id": aliases.hide("row", row.id), "action": row.action} for row in sent.rows],
        "added": [],
    }


def scrutinise(method: str, part: str, by: str, content: Callable[[World, str], dict[str, Any]]) -> Knock:
    """A request of the scrutiny screen for another study (``by="task"``) or another instance."""

    def knock(world: World, who: str, which: str) -> Answer:
        slug = slug_of("work", which if by == "task" else "own")
        number = instance_of(world, who, which if by == "instance" else "own")
        instance = aliases_of(world, who, slug).hide("instance", number)
        sent = content(world, who) | {"instance": instance}
        if part == "sheets":
            sent = {"uid": sent["uid"], "evaluations": [sent]}
        options = {"params": sent} if method == "GET" or part == "step" else {"json": sent}
        return ask(world.browser(who), method, f"/api/scrutiny/{slug}/{part}", **options)

    return knock


SCRUTINY: dict[str, tuple[str, str, Callable[[World, str], dict[str, Any]]]] = {
    "get_step": ("POST", "step", lambda world, who: {}),
    "get_ahead": ("POST", "step", lambda world, who: {"ahead": True, "move": "next"}),
    "list_history": ("GET", "history", lambda world, who: {"criterion": body_of(world, who)["criterion"]}),
    "get_sheet": ("POST", "step", lambda world, who: {"sheet": True}),
    "submit": ("POST", "submissions", body_of),
    "submit_sheet": ("POST", "sheets", body_of),
    "mark_instance": ("POST", "marks", lambda world, who: {"flagged": True}),
}


# ---- what pages send ----------------------------------------------------------------------------------------


def vote(part: str, revision: int) -> Knock:
    """A ballot, or an owner's decisions, that approve whatever that task votes on."""

    def knock(world: World, who: str, which: str) -> Answer:
        slug = slug_of("voting", which)
        round_, ids = world.proposed.get(slug, (NO_SUCH_ID, [NO_SUCH_ID]))
        rows = [{"id": one, "action": "approve"} for one in ids]
        sent = {"round": round_, "revision": revision, "rows": rows, "added": []}
        return ask(world.browser(who), "POST", f"/api/criteria/{slug}/{part}", json=sent)

    return knock


def answer(world: World, who: str, which: str) -> Answer:
    """An owner's answer to a message that does not exist."""
    sent = {"message": NO_SUCH_ID, "text": "Thank you."}
    return ask(world.browser(who), "POST", f"/api/scrutiny/{slug_of('work', which)}/answers", json=sent)


def decision(world: World, page: Page, who: str, which: str) -> dict[str, Any]:
    """An instance and a criterion to compare people on, then a score that is to stand."""
    page.put({"review-instance": "1a" if which == "own" else "2b" if which == "other" else "no-such"})
    compared = page.fire("review-compare")
    return {"review-score": "3"} if compared.status == 200 else {}


def compared(world: World, page: Page, who: str, which: str) -> dict[str, Any]:
    return {"review-instance": "1a" if which == "own" else "2b" if which == "other" else "no-such"}


def upload(world: World, page: Page, who: str, which: str) -> dict[str, Any]:
    """A table sent up, into a task."""
    content = b"instance,input,output\nnew,Why?,Because.\n"
    sent = page.browser.post(f"{SETUP}/gradio_api/upload", files={"files": ("new.csv", content)})
    files = [file_of(path) for path in (sent.json() if sent.status_code == 200 else ())]
    return {"import-file": files, "import-into": "chosen"}


def study_file(world: World, page: Page, who: str, which: str) -> dict[str, Any]:
    """A file sent up that is no study."""
    sent = page.browser.post(f"{SETUP}/gradio_api/upload", files={"files": ("study.zip", b"not a zip")})
    return {
        "study-file": next((file_of(path) for path in (sent.json() if sent.status_code == 200 else ())), None)
    }


def hub_part(world: World, page: Page, who: str, which: str) -> dict[str, Any]:
    """A data set found by its name, and its only part chosen."""
    page.put({"hub-words": "team/study"})
    page.fire("hub-find")
    return {}


def hub_seen(world: World, page: Page, who: str, which: str) -> dict[str, Any]:
    """The part looked at, to be imported into a task."""
    hub_part(world, page, who, which)
    page.fire("hub-show")
    return {"import-into": "chosen"}


def file_of(path: str) -> dict[str, Any]:
    """A file of the server as a browser names one that it sent up."""
    return {"path": path, "orig_name": "new.csv", "meta": {"_type": "gradio.FileData"}}


def card(slug: str) -> Fields:
    """The form of a task, as it stands for the task picked, under a short name."""

    def fields(world: World, page: Page, who: str, which: str) -> dict[str, Any]:
        short = slug or slug_of("demo", which)
        return {"task-name": "A task", "task-slug": short, "task-description": "Anew.", "Scale": "1-5"}

    return fields


def steps(world: World, page: Page, who: str, which: str) -> dict[str, Any]:
    text = "Use simple words." if which != "none" else "No criterion of this task."
    return {"steps-criterion": text, "steps-text": "1. Read."}


def guide(world: World, page: Page, who: str, which: str) -> dict[str, Any]:
    return {"guide-criterion": "Use simple words.", "guide-definition": "Words of every day."}


def run_label(world: World, page: Page, who: str, which: str) -> dict[str, Any]:
    return {"shown-run": {"own": "first", "other": "queued", "none": "no such run"}[which]}


PUBLISHED = fixed(publish_name="team/study", publish_licence="mit")
KEYS = fixed(crowd_keys="instance,criterion,accepted\n1a,1,3\n")
NO_MODEL = "model"


def study_steps() -> list[Door]:
    """The pages of a study, each at the stage that its button is for."""
    return [
        Door("usecases.crowd.onboarding.begin", at("POST", "/s/{task}/begin", "joined"), OWN),
        Door("usecases.crowd.onboarding.go_on", at("POST", "/s/{task}/go-on", "warned"), OWN),
        Door(
            "usecases.crowd.onboarding.hand_in",
            at("POST", "/s/{task}/hand-in", "exam", data={"attempt": 1}),
            OWN,
        ),
        Door("usecases.crowd.onboarding.consent", at("POST", "/s/{task}/consent", "fresh")),
        Door("usecases.crowd.onboarding.get_visit", at("GET", "/s/{task}", "joined")),
        Door("usecases.crowd.onboarding.get_visit", at("GET", "/s/{task}/work", "work")),
        Door("usecases.crowd.onboarding.end_work", at("POST", "/s/{task}/end", "paused"), OWN),
        Door("usecases.crowd.onboarding.withdraw", at("POST", "/s/{task}/withdraw", "work"), OWN),
        Door("usecases.crowd.onboarding.list_joined", at("GET", "/s/"), OWN, OWN, part=True),
        Door("usecases.sessions.sign_out_everywhere", at("POST", "/signout/everywhere"), OWN, OWN),
    ]


def scrutiny_doors() -> list[Door]:
    return [
        Door(f"usecases.scrutiny.steps.{name}", scrutinise(method, part, by, content), OWN)
        for name, (method, part, content) in SCRUTINY.items()
        for by in ("task", "instance")
    ]


def downloads() -> list[Door]:
    tables = "/download/{task}/paper-tables.zip"
    of_tables = ("get_paper_tables", "get_reading")
    return [
        Door("usecases.export.export_zip", at("GET", "/download/{task}/export.zip")),
        Door("usecases.study_outlines.export_outline", at("GET", "/download/{task}/outline.zip")),
        *(
            Door(
                "extensions.study_files.transfer.export_study",
                at("GET", f"/download/{{task}}/study.zip?people={naming}"),
            )
            for naming in ("names", "pseudonyms")
        ),
        Door("usecases.export.export_table", at("GET", "/download/{task}/scores.csv")),
        Door(
            "extensions.publish.publication.publish_file",
            at("GET", "/download/{task}/published"),
            says="Nobody has scored",
        ),
        Door(
            "extensions.publish.publication.publish_file",
            event(MAIN, "publish-see"),
            says="Nobody has scored",
        ),
        Door(
            "usecases.export.export_zip_as",
            at("GET", "/download/{task}/as/rubrics.zip"),
            says="nothing to export",
        ),
        *(Door(f"usecases.reports.statistics.{name}", at("GET", tables)) for name in of_tables),
        Door("usecases.reports.statistics.get_reading", event(MAIN, "agreement", "select"), part=True),
        Door("usecases.reports.statistics.list_versions", event(MAIN, "agreement", "select"), part=True),
        Door(
            "usecases.crowd.overview.export_participants",
            at("GET", "/s/{task}/participants.csv?ids=1", "joined"),
        ),
        Door("usecases.crowd.overview.get_overview", at("GET", "/s/{task}/participants.csv", "joined")),
    ]


def judge_tab() -> list[Door]:
    """Of tasks with too few documents to be sealed, so that whatever follows the seal says so."""
    files, sealed = "/download/{task}/judge/", "not sealed yet"
    pressed = partial(event, MAIN, first=("judge",))
    return [
        Door("extensions.judge.state.get_judge_state", event(MAIN, "judge", "select"), part=True),
        Door(
            "extensions.judge.seal.seal_task",
            event(MAIN, "judge-seal-sure", first=("judge",)),
            says="at least 2",
        ),
        Door("extensions.judge.fit.fit_judge", event(MAIN, "judge-learn", first=("judge",)), says=sealed),
        Door(
            "extensions.judge.certification.certify",
            event(MAIN, "judge-certify", first=("judge",)),
            says=sealed,
        ),
        Door("extensions.judge.state.get_certificate", at("GET", f"{files}certificate.html"), says=sealed),
        Door("extensions.judge.state.get_certificate", at("GET", f"{files}certificate.json"), says=sealed),
        Door("extensions.judge.audits.audit_run", pressed("judge-audit"), says=sealed),
        Door("extensions.judge.audits.draw_by_audit", pressed("audit-draw"), says=sealed),
        Door("extensions.judge.bridges.get_bridge", at("GET", f"{files}bridge.json"), says=sealed),
        Door("extensions.judge.bridges.bridge_judges", pressed("bridge-go"), says=sealed),
        Door("extensions.judge.judge_export.export_judge", at("GET", f"{files}judge.json"), says=sealed),
        Door("extensions.judge.corrections.propose_examples", pressed("examples-choose"), says=sealed),
        Door("extensions.judge.corrections.take_examples", pressed("examples-take"), says=sealed),
        Door("extensions.judge.corrections.propose_wording", pressed("wording-propose"), says=sealed),
        Door(
            "extensions.judge.corrections.take_wording", pressed("wording-take"), says="no proposed wording"
        ),
        Door(
            "extensions.judge.corrections.leave_wording", pressed("wording-leave"), says="no proposed wording"
        ),
        Door("extensions.judge.deferred_lines.assign_deferred", pressed("people-assign"), says=sealed),
        Door(
            "extensions.judge.deferred_lines.end_asking",
            pressed("people-end"),
            says="already has all lines",
        ),
    ]


def spans_tab() -> list[Door]:
    """Of tasks whose spans nobody marks, but for the tab that an owner sets up."""
    body = {
        "uid": str(uuid.UUID(int=1)), "instance": 1, "draft": None, "revision": 0, "rows": [], "score": None,
        "bulk": False, "active_ms": None,
    }  # fmt: skip
    return [
        Door("extensions.spans.annotation.get_typology", event(MAIN, "spans", "select"), OWN, OWN, part=True),
        Door("extensions.spans.annotation.set_typology", event(MAIN, "spans-choose", first=("spans",))),
        Door(
            "extensions.spans.annotation.open_sheet", at("POST", "/api/spans/{task}/sheet", json={}), OWN, OWN
        ),
        Door(
            "extensions.spans.annotation.save_spans",
            at("POST", "/api/spans/{task}/saves", json=body),
            OWN,
            says="not in your queue",
        ),
    ]


def rubrics_tab() -> list[Door]:
    """Of tasks whose instances have no criteria of their own, so that there is nothing to judge or to save."""
    name, opened = "extensions.rubrics.{}".format, partial(event, MAIN, "rubrics", "select")
    body = {
        "uid": "0" * 8 + "-0000-0000-0000-" + "0" * 12,
        "instance": 999,
        "revision": 0,
        "run": None,
        "lines": [],
    }
    return [
        Door(name("reviews.get_rubrics_sheet"), at("POST", "/api/rubrics/{task}/open")),
        Door(
            name("reviews.submit_rubrics_sheet"),
            at("POST", "/api/rubrics/{task}/sheets", json=body),
            says="not in your queue",
        ),
        Door(
            name("reviews.list_rubrics_history"),
            at("GET", "/api/rubrics/{task}/history?position=999"),
            says="not in your queue",
        ),
        *(
            Door(name(one), opened(), part=True)
            for one in ("reviews.count_criteria", "reports.get_rubrics_report")
        ),
        Door(name("reviews.has_rubrics"), opened(), part=True),
        Door(name("drafting.draft_rubrics"), event(MAIN, "rubrics-write", first=("rubrics",)), says=NO_MODEL),
        Door(name("drafting.judge_rubrics"), event(MAIN, "rubrics-judge", first=("rubrics",)), says=NO_MODEL),
        Door(name("files.export_rubrics"), at("GET", "/download/{task}/as/rubrics.zip")),
        Door(name("files.export_rubrics"), at("GET", "/download/{task}/as/healthbench.zip")),
    ]


def criteria_tab() -> list[Door]:
    voting: dict[str, Any] = {"task": "voting", "first": ("criteria",)}
    opened = event(MAIN, "criteria", "select", task="voting")
    lines = fixed(criteria_lines="The reply is short.\nThe reply is kind.")

    def asking(button: str) -> list[tuple[str, str, str]]:
        """The click that the page answers with a question, because a vote is open."""
        return [(button, "click", "")]

    return [
        Door("usecases.tasks.list_tasks", event(MAIN, "", "load", pick=False), OWN, OWN),
        *(
            Door(name, opened)
            for name in (
                "usecases.tasks.get_task",
                "usecases.criteria_rounds.get_round",
                "usecases.criteria_rounds.get_criteria_set",
            )
        ),
        *(
            Door(f"usecases.{name}", opened, part=True)
            for name in (
                "criteria_rounds.get_tally",
                "criteria_rounds.list_other_rounds",
                "criteria_sets.list_drafted",
            )
        ),
        Door("usecases.criteria_rounds.get_round", at("GET", "/api/criteria/{task}/ballot", "voting")),
        Door("usecases.tasks.get_revision", at("GET", "/api/revision/{task}")),
        Door(
            "usecases.criteria_rounds.list_ballot_history",
            at("GET", "/api/criteria/{task}/ballot/history", "voting"),
        ),
        Door("usecases.criteria_rounds.get_tally", at("GET", "/api/criteria/{task}/decisions", "voting")),
        Door("usecases.criteria_rounds.cast_ballot", vote("ballot", 0)),
        Door("usecases.criteria_rounds.establish", vote("decisions", 1)),
        Door(
            "usecases.criteria_rounds.open_round",
            event(MAIN, "replace-vote-go", put=lines, before=asking("open-vote"), **voting),
        ),
        Door(
            "usecases.criteria_rounds.take_up_round",
            event(MAIN, "replace-vote-go", before=asking("take-up-vote"), **voting),
        ),
        Door("usecases.criteria_sets.reopen_criteria", event(MAIN, "reopen")),
        Door(
            "usecases.criteria_rounds.establish",
            event(MAIN, "use-unvoted", **voting),
            says="Somebody has voted",
        ),
        Door("usecases.criteria_rounds.cancel_vote", event(MAIN, "cancel-vote", **voting)),
        Door(
            "usecases.criteria_rounds.get_criteria_set",
            event(MAIN, "guide-criterion", "input", put=guide, first=("criteria",)),
        ),
        Door("usecases.criteria_sets.set_guide", event(MAIN, "guide-save", put=guide, first=("criteria",))),
        Door("usecases.drafting.jobs.start_criteria_draft", event(MAIN, "draft-criteria"), says=NO_MODEL),
        Door("usecases.drafting.jobs.dismiss_job", event(MAIN, "criteria-dismiss")),
    ]


PICKED, NEW = ("task-picker", "change", "task-state"), ("new-task", "click", "")


def setup_tasks() -> list[Door]:
    return [
        Door("usecases.tasks.get_task_state", setup("task-picker", "change", out="task-state")),
        Door("usecases.tasks.update_task", setup("save-task", put=card(""), before=[PICKED]), EITHER, EITHER),
        Door("usecases.tasks.add_task", setup("save-task", put=card("brand-new"), before=[NEW], pick=False), OWN, OWN),
        Door("usecases.tasks.list_progress", setup("people", "select")),
        # a run without readable drafts is not in the menu
        Door(
            "usecases.tasks.show_run", setup("shown-run", "input", first=("prefill",), put=run_label, pick=False), OWN
        ),
        Door("usecases.scrutiny.design.get_design", setup("task-picker", "change", out="design-state")),
        Door("usecases.scrutiny.design.set_design", setup("save-design", put=fixed(design_blind=20), before=[PICKED])),
        Door("usecases.study_import.import_file", setup("import-go", put=upload, first=("import",)), EITHER, EITHER),
        *(
            Door(f"extensions.hub.transfer.{name}", setup(button, put=put, first=("import",), pick=False), OWN, OWN)
            for name, button, put in (
                ("look_at_hub", "hub-find", fixed(hub_words="team/study")),
                ("preview_hub", "hub-show", hub_part),
                ("import_hub", "import-go", hub_seen),
            )
        ),
        Door("usecases.study_import.list_sources", setup("import", "select"), EITHER, EITHER),
        Door("usecases.tasks.list_archived", setup("task-picker", "change", out="archive-offer", pick=False), OWN, OWN),
        Door("usecases.tasks.archive_task", setup("archive-task", put=short_name)),
        Door("usecases.tasks.restore_task", setup("restore-task", before=[PICKED], put=fixed(archived="away"),
                                                pick=False), OWN, OWN),
        Door("usecases.scrutiny.policies.get_team", setup("people", "select")),
        Door("usecases.scrutiny.policies.set_team", setup("team-save", put=fixed(team_each=0, team_names=[]))),
        Door("usecases.drafting.execution.describe_forms", setup("rungs-run", "input", first=("prefill",), pick=False,
                                                            put=fixed(rungs_run="fused")), OWN, OWN),
        *(Door(f"usecases.scrutiny.review.{name}", setup("data", "select"))
          for name in ("list_instances", "list_systems")),
        Door("usecases.scrutiny.review.list_instances", setup("data-only", "input", first=("data",))),
        Door("usecases.scrutiny.review.view_instance", setup("data-instance", "input", first=("data",), put=looked_at,
                                                      pick=False)),
        Door("usecases.scrutiny.design.list_columns", setup("task-picker", "change", out="task-state")),
        Door("usecases.scrutiny.design.set_columns", setup("save-columns", put=seen_by_people, before=[PICKED])),
        *(Door(f"usecases.scrutiny.review.{name}", setup("review", "select"))
          for name in ("list_disputes", "list_habits")),
        Door("usecases.scrutiny.review.compare_people", setup("review-compare", first=("review",), put=compared,
                                                               pick=False)),
        Door("usecases.scrutiny.review.list_messages", setup("review", "select")),
        Door("usecases.scrutiny.review.answer_message", answer, EITHER, ALL, says="was removed or changed"),
        Door("usecases.scrutiny.review.count_open_messages", event(MAIN, "follow-page", "submit", out="me"), part=True),
        Door("usecases.scrutiny.review.list_answers", event(MAIN, "follow-page", "submit", out="me")),
        *(Door(f"usecases.planning.{name}", setup("plan", "select")) for name in ("get_planning", "list_plan_systems")),
        Door("usecases.planning.get_planning", setup("plan-work", first=("plan",))),
        Door("usecases.tasks.list_tools", event(MAIN, "follow-page", "submit", out="me"), part=True),
        Door("usecases.tasks.set_tool", setup("tool-plan", "input", first=("tools",), put=fixed(tool_plan=True))),
        Door("usecases.planning.has_rule", setup("tools", "select"), part=True),
        Door("extensions.labelling.design.has_design", setup("tools", "select"), part=True),
        Door("extensions.judge.seal.has_seal", event(MAIN, "follow-page", "submit", out="me"), part=True),
        Door("extensions.labelling.design.get_labelling", setup("labelling", "select")),
        Door("extensions.labelling.design.make_design", setup("labelling-draw", first=("labelling",), put=fixed(
            labelling_kind="uniform", labelling_labels=1))),
        Door("extensions.labelling.design.end_design", setup("labelling-end", first=("labelling",)), says="no active"),
        Door("usecases.planning.declare_rule", setup("rule-declare", first=("plan",))),
        Door("usecases.scrutiny.review.adjudicate", setup("review-decide", first=("review",), put=decision,
                                                         pick=False)),
    ]  # fmt: skip


def short_name(world: World, page: Page, who: str, which: str) -> dict[str, Any]:
    return {"archive-typed": slug_of("demo", which)}


def looked_at(world: World, page: Page, who: str, which: str) -> dict[str, Any]:
    return {"data-instance": {"own": "1a", "other": "2b", "none": "no-such"}[which]}


def seen_by_people(world: World, page: Page, who: str, which: str) -> dict[str, Any]:
    """Nothing is shown to anybody: of a task without further columns that is all there is to choose."""
    return {"columns-roles": {"rows": []}}


def setup_prefill() -> list[Door]:
    opened: dict[str, Any] = {"first": ("prefill",)}
    start = setup("prefill-start", put=fixed(prefill_model="test-model"), **opened)
    queued = (
        "usecases.drafting.jobs.start_job",
        "usecases.drafting.preparation.prepare_run",
        "usecases.drafting.execution.run_drafting",
    )
    return [
        *(Door(name, start) for name in queued),
        Door(
            "usecases.criteria_sets.establish_preset",
            setup("preset-criteria", put=fixed(prefill_preset="closer-look"), **opened),
        ),
        Door(
            "extensions.fusion.correlations.correlate_run",
            setup("fused-run", "input", put=fixed(fused_run="fused"), **opened),
        ),
        Door(
            "usecases.drafting.jobs.draft_line",
            scrutinise("POST", "draft", "task", lambda world, who: {"criterion": body_of(world, who)["criterion"]}),
            says=NO_MODEL,
        ),
        Door("usecases.drafting.jobs.restart_job", setup("job-resume", **opened)),
        Door("usecases.drafting.jobs.restart_job", setup("job-retry", **opened)),
        Door("usecases.drafting.jobs.cancel_job", setup("job-cancel", **opened)),
        Door("usecases.drafting.preparation.show_question",
             setup("prefill-question", put=fixed(prefill_model="m"), **opened)),
        *(Door(name, setup("prefill-estimate", put=fixed(prefill_model="m"), **opened))
          for name in ("usecases.drafting.preparation.estimate_run",
                       "usecases.drafting.model_requests.suggest_decisions")),
        *(Door(name, setup("prefill", "select"))
          for name in ("usecases.drafting.jobs.list_jobs", "usecases.drafting.model_requests.list_steps",
                       "extensions.fusion.protocol.list_assistant_names")),
        Door("usecases.drafting.model_requests.list_steps", setup("steps-criterion", "input", put=steps, **opened)),
        Door("usecases.drafting.model_requests.save_steps", setup("save-steps", put=steps, pick=False, **opened)),
        Door("usecases.drafting.model_requests.draft_steps", setup("Draft missing steps", **opened), says=NO_MODEL),
        Door("extensions.fusion.protocol.draft_plan", setup("draft-plan", **opened), says=NO_MODEL),
    ]  # fmt: skip


def setup_people() -> list[Door]:
    role = named("role-name", role_role="annotator")
    group, account = chosen("group-names", group_group="expert"), named("role-name")
    opened: dict[str, Any] = {"first": ("people",), "pick": False}
    return [
        Door("usecases.sessions.list_members", setup("people", "select", pick=False), OWN, OWN),
        Door("usecases.sessions.set_group", setup("group-save", put=group, **opened)),
        # nobody disables their own account
        Door(
            "usecases.sessions.disable_account", setup("account-disable", put=account, **opened), ("other",)
        ),
        Door("usecases.sessions.enable_account", setup("account-enable", put=account, **opened)),
        Door("usecases.sessions.set_role", setup("role-save", first=("people",), put=role, pick=False)),
        Door("usecases.sessions.end_sessions", setup("sessions-end", put=named("sessions-name"), pick=False)),
        Door("usecases.accounts.list_invitations", setup("people", "select", pick=False), OWN, OWN),
        Door(
            "usecases.accounts.revoke_invitation",
            setup("invite-revoke", put=fixed(invite_key="00000000"), pick=False),
            OWN,
            OWN,
            says="no open link",
        ),
        Door("usecases.accounts.invite", setup("invite-make", put=named("invite-name"), pick=False)),
        Door(
            "extensions.agents.tokens.list_tokens",
            setup("hosting", "select", pick=False),
            OWN,
            OWN,
            part=True,
        ),
        Door("extensions.agents.tokens.make_token", setup("agents-make", pick=False), OWN, OWN),
        Door(
            "extensions.agents.tokens.revoke_token",
            setup("agents-revoke", put=fixed(agents_key="00000000"), pick=False),
            OWN,
            OWN,
            says="no token",
        ),
        Door(
            "extensions.study_files.transfer.import_study_file",
            setup("study-import", put=study_file, pick=False),
            OWN,
            OWN,
        ),
        *(
            Door(f"extensions.hub.transfer.{name}", setup(button, put=PUBLISHED), OWN, OWN)
            for name, button in (("preview_push", "publish-look"), ("push_study", "publish-send"))
        ),
        Door("usecases.hosting.replication.get_shipped", at("GET", "/api/shipped"), OWN, OWN),
        Door("usecases.images.list_image_hosts", setup("hosting", "select", pick=False), OWN, OWN),
        Door(
            "usecases.images.set_image_hosts",
            setup("image-hosts-save", put=fixed(image_hosts="pics.example.org"), pick=False),
            OWN,
            OWN,
        ),
        Door("usecases.hosting.replication.get_alert", setup("", "load", pick=False, out="alert"), OWN, OWN),
        Door("usecases.hosting.replication.get_snapshots", setup("hosting", "select", pick=False), OWN, OWN),
        Door(
            "usecases.hosting.replication.take_snapshot",
            setup("snapshot-take", pick=False),
            OWN,
            OWN,
            says="No snapshot place",
        ),
    ]


def setup_crowd() -> list[Door]:
    planned: dict[str, Any] = {"first": ("crowd",), "task": "joined"}
    in_exam: dict[str, Any] = {"first": ("crowd",), "task": "exam", "pick": False}
    said = chosen("crowd-who", crowd_comment="As was agreed.")
    twice = chosen("crowd-who", repeat="crowd-comment")

    def asked(world: World, page: Page, who: str, which: str) -> dict[str, Any]:
        return {"crowd-request": world.requests.get(slug_of("exam", which), NO_SUCH_ID)}

    return [
        Door("usecases.crowd.plans.get_plan", setup("crowd", "select")),
        Door("usecases.crowd.plans.set_plan", setup("crowd-save", **planned)),
        Door("usecases.crowd.plans.get_link", setup("crowd", "select", task="joined")),
        Door("usecases.crowd.plans.preview_run", setup("crowd-running", **planned)),
        Door("usecases.crowd.plans.renew_link", setup("crowd-renew", **planned)),
        *(
            Door("usecases.crowd.plans.set_state", setup(f"crowd-{state}-yes", **planned))
            for state in ("running", "paused", "closed")
        ),
        Door("usecases.crowd.exams.export_keys", setup("crowd", "select", task="joined"), part=True),
        Door("usecases.crowd.exams.has_keys", setup("tools", "select"), part=True),
        Door("usecases.crowd.exams.set_keys", setup("crowd-keys-save", first=("crowd",), put=KEYS)),
        Door("usecases.crowd.overview.get_overview", setup("crowd", "select", task="joined"), part=True),
        Door("usecases.crowd.overview.list_reviews", setup("crowd", "select", task="joined"), part=True),
        Door("usecases.crowd.plans.list_returning", setup("crowd", "select", task="joined"), part=True),
        Door("usecases.crowd.plans.decide_return", setup("crowd-let-in", put=asked, **in_exam), OWN),
        Door("usecases.crowd.plans.decide_return", setup("crowd-turn-away", put=asked, **in_exam), OWN),
        Door(
            "usecases.crowd.plans.undo_withdrawal",
            setup("crowd-undo", put=said, **in_exam),
            says="to restore",
        ),
        Door("usecases.crowd.plans.decide", setup("crowd-admit", put=said, **in_exam)),
        Door("usecases.crowd.plans.decide", setup("crowd-refuse", put=said, **in_exam)),
        Door("usecases.crowd.plans.reject", setup("crowd-reject", put=said, **in_exam)),
        # an owner's own data is not removed: the study rests on it
        Door("usecases.crowd.plans.remove_person", setup("crowd-remove", put=twice, **in_exam), ("other",)),
    ]


def setup_prolific() -> list[Door]:
    """Without a token every one ends where Prolific would be asked; ``tests/usecases/crowd`` asks a stand-in."""
    opened: dict[str, Any] = {"first": ("prolific",), "task": "joined"}
    of_token: dict[str, Any] = {"says": "PROLIFIC_TOKEN"}
    return [
        Door("extensions.prolific.publication.draft_study", setup("prolific-draft", **opened), **of_token),
        Door(
            "extensions.prolific.publication.publish_study", setup("prolific-publish", **opened), **of_token
        ),
        Door("extensions.prolific.publication.top_up", setup("prolific-places", **opened), **of_token),
        Door("extensions.prolific.submissions.get_live", setup("prolific-all", **opened), **of_token),
        Door("extensions.prolific.submissions.review", setup("prolific-approve", **opened), **of_token),
        Door("extensions.prolific.requests_log.settle", setup("prolific-settle", **opened), **of_token),
        Door(
            "extensions.prolific.requests_log.list_asked",
            setup("prolific", "select", task="joined"),
            part=True,
        ),
        Door("extensions.prolific.requests_log.export_asked", at("GET", "/s/{task}/prolific.csv", "joined")),
    ]


DOORS: tuple[Door, ...] = (
    *study_steps(),
    *scrutiny_doors(),
    *downloads(),
    *criteria_tab(),
    *judge_tab(),
    *spans_tab(),
    *rubrics_tab(),
    *setup_tasks(),
    *setup_prefill(),
    *setup_people(),
    *setup_crowd(),
    *setup_prolific(),
)

ELSEWHERE = {
    "coeval.usecases.hosting.maintenance.check_file": "cli/commands.py",
    "coeval.usecases.hosting.maintenance.back_up": "cli/commands.py",
    "coeval.usecases.export.export_folder": "cli/files.py",
    "coeval.usecases.study_outlines.open_outline": "cli/serve.py",
    "coeval.usecases.study_outlines.open_review": "cli/serve.py",
    "coeval.usecases.export.export_as": "cli/files.py",
    "coeval.extensions.study_files.transfer.export_study_file": "extensions/study_files/commands.py",
    "coeval.usecases.reports.statistics.get_table_files": "cli/stats.py",
    "coeval.usecases.reports.statistics.get_frames": "extensions/replication/coeval_paper.py",
    "coeval.usecases.reports.statistics.get_report": "cli/stats.py extensions/agents/tools.py "
    "extensions/hub/transfer.py extensions/publish/publication.py extensions/replication/coeval_paper.py",
    "coeval.usecases.drafting.batch_files.read_results": "cli/draft.py extensions/agents/tools.py",
    "coeval.usecases.drafting.model_requests.draft_criteria": "cli/draft.py llm/proposals.py usecases/drafting/jobs.py",
    "coeval.usecases.drafting.batch_files.write_questions": "cli/draft.py",
    "coeval.usecases.study_import.import_study": "usecases/study_import.py extensions/agents/tools.py",
    "coeval.usecases.criteria_sets.establish_list": "cli/files.py usecases/study_outlines.py",
    "coeval.extensions.rubrics.drafting.list_rubrics_runs": "extensions/rubrics/commands.py",
    "coeval.extensions.rubrics.drafting.show_rubrics_run": "extensions/rubrics/commands.py",
    "coeval.extensions.judge.deferred_lines.list_deferred": "extensions/judge/commands_study.py",
    "coeval.extensions.spans.annotation.list_span_runs": "extensions/spans/commands.py",
    "coeval.extensions.spans.drafting.draft_spans": "extensions/spans/commands.py",
    "coeval.extensions.spans.study.import_spans": "extensions/spans/commands.py",
    "coeval.extensions.spans.study.read_study": "extensions/spans/commands.py",
}
"""Use cases that no route and no event leads to, with the file that calls them; none where only Python does."""

OWNERS_DOOR = {"coeval.usecases.tasks.get_task_state", "coeval.extensions.fusion.correlations.correlate_run"}
"""What the table gives to more people than its only door over HTTP lets through: Set-up is for owners."""
