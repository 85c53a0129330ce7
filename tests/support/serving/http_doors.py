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

from coeval.rules.aliases import Aliases
from coeval.study.scrutiny.steps import get_aliases
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
    "list_history": ("GET", "history", lambda world, who: {"criterion": body_of(world, who)["criterion"]}),
    "get_sheet": ("POST", "step", lambda world, who: {"sheet": True}),
    "submit": ("POST", "submissions", body_of),
    "submit_sheet": ("POST", "sheets", body_of),
    "mark_instance": ("POST", "marks", lambda world, who: {"flagged": True}),
    "suggest_criterion": ("POST", "suggestions", lambda world, who: {"text": "Be brief."}),
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
        Door("crowd.onboarding.begin", at("POST", "/s/{task}/begin", "joined"), OWN),
        Door("crowd.onboarding.go_on", at("POST", "/s/{task}/go-on", "warned"), OWN),
        Door("crowd.onboarding.hand_in", at("POST", "/s/{task}/hand-in", "exam"), OWN),
        Door("crowd.onboarding.consent", at("POST", "/s/{task}/consent", "fresh")),
        Door("crowd.onboarding.get_visit", at("GET", "/s/{task}", "joined")),
        Door("crowd.onboarding.get_visit", at("GET", "/s/{task}/work", "work")),
        Door("crowd.onboarding.end_work", at("POST", "/s/{task}/end", "paused"), OWN),
        Door("crowd.onboarding.withdraw", at("POST", "/s/{task}/withdraw", "work"), OWN),
        Door("crowd.onboarding.list_joined", at("GET", "/s/"), OWN, OWN, part=True),
        Door("people.sessions.sign_out_everywhere", at("POST", "/signout/everywhere"), OWN, OWN),
    ]


def scrutiny_doors() -> list[Door]:
    return [
        Door(f"scrutiny.steps.{name}", scrutinise(method, part, by, content), OWN)
        for name, (method, part, content) in SCRUTINY.items()
        for by in ("task", "instance")
    ]


def downloads() -> list[Door]:
    tables, figure = "/download/{task}/paper-tables.zip", "/download/{task}/charts/agreement/alpha.csv"
    of_tables = ("get_paper_tables", "get_report", "get_reading")
    return [
        Door("exporting.export.export_zip", at("GET", "/download/{task}/export.zip")),
        *(
            Door("moving.exporting.export_study", at("GET", f"/download/{{task}}/study.zip?people={naming}"))
            for naming in ("names", "pseudonyms")
        ),
        Door("exporting.export.export_table", at("GET", "/download/{task}/scores.csv")),
        Door(
            "exporting.export.export_zip_as",
            at("GET", "/download/{task}/as/preferences.zip"),
            says="nothing to export",
        ),
        *(Door(f"statistics.{name}", at("GET", tables)) for name in of_tables),
        Door("statistics.get_reading", at("GET", figure), says="no chart"),
        Door("statistics.get_reading", event(MAIN, "agreement", "select"), part=True),
        Door("statistics.list_versions", event(MAIN, "agreement", "select"), part=True),
        Door("crowd.overview.export_participants", at("GET", "/s/{task}/participants.csv?ids=1", "joined")),
        Door("crowd.overview.get_overview", at("GET", "/s/{task}/participants.csv", "joined")),
    ]


def judge_tab() -> list[Door]:
    """Of tasks with too few documents to be sealed, so that whatever follows the seal says so."""
    files, sealed = "/download/{task}/judge/", "not sealed yet"
    pressed = partial(event, MAIN, first=("judge",))
    return [
        Door("judging.state.get_judge_state", event(MAIN, "judge", "select"), part=True),
        Door("judging.sealing.seal_task", event(MAIN, "judge-seal-go", first=("judge",)), says="at least 2"),
        Door("judging.fitting.fit_judge", event(MAIN, "judge-learn", first=("judge",)), says=sealed),
        Door("judging.certifying.certify", event(MAIN, "judge-certify", first=("judge",)), says=sealed),
        Door("judging.state.get_certificate", at("GET", f"{files}certificate.html"), says=sealed),
        Door("judging.state.get_certificate", at("GET", f"{files}certificate.json"), says=sealed),
        Door("judging.judge_export.export_judge", at("GET", f"{files}judge.json"), says=sealed),
        Door("judging.examples.propose_examples", pressed("examples-choose"), says=sealed),
        Door("judging.examples.take_examples", pressed("examples-take"), says=sealed),
        Door("judging.criterion_wordings.propose_wording", pressed("wording-propose"), says=sealed),
        Door("judging.criterion_wordings.take_wording", pressed("wording-take"), says="no proposed wording"),
        Door(
            "judging.criterion_wordings.leave_wording", pressed("wording-leave"), says="no proposed wording"
        ),
        Door("judging.deferring.assign_deferred", pressed("people-assign"), says=sealed),
        Door("judging.deferring.end_asking", pressed("people-end"), says="asked for everything already"),
    ]


def criteria_tab() -> list[Door]:
    voting: dict[str, Any] = {"task": "voting", "first": ("criteria",)}
    opened = event(MAIN, "criteria", "select", task="voting")
    lines = fixed(criteria_lines="The reply is short.\nThe reply is kind.")
    return [
        Door("tasks.list_tasks", event(MAIN, "", "load", pick=False), OWN, OWN),
        *(
            Door(name, opened)
            for name in ("tasks.get_task", "criteria.rounds.get_round", "criteria.rounds.get_criteria_set")
        ),
        *(Door(f"criteria.rounds.{name}", opened, part=True) for name in ("get_tally", "list_findings")),
        Door("criteria.rounds.list_suggestions", event(MAIN, "criteria", "select"), part=True),
        Door("criteria.rounds.get_round", at("GET", "/api/criteria/{task}/ballot", "voting")),
        Door(
            "criteria.rounds.list_ballot_history", at("GET", "/api/criteria/{task}/ballot/history", "voting")
        ),
        Door("criteria.rounds.get_tally", at("GET", "/api/criteria/{task}/decisions", "voting")),
        Door("criteria.rounds.cast_ballot", vote("ballot", 0)),
        Door("criteria.rounds.establish", vote("decisions", 1)),
        Door(
            "criteria.rounds.take_findings", event(MAIN, "take-findings", put=fixed(findings=[0]), **voting)
        ),
        Door("criteria.rounds.open_round", event(MAIN, "open-vote", put=lines)),
        Door("criteria.rounds.reopen_criteria", event(MAIN, "reopen")),
        Door("criteria.rounds.cancel_vote", event(MAIN, "cancel-vote", **voting)),
        Door(
            "criteria.rounds.get_criteria_set",
            event(MAIN, "guide-criterion", "input", put=guide, first=("criteria",)),
        ),
        Door("criteria.guides.set_guide", event(MAIN, "guide-save", put=guide, first=("criteria",))),
        Door("drafting.proposing.draft_criteria", event(MAIN, "draft-criteria"), says=NO_MODEL),
    ]


PICKED, NEW = ("task-picker", "change", "task-state"), ("new-task", "click", "")


def setup_tasks() -> list[Door]:
    return [
        Door("tasks.get_task_state", setup("task-picker", "change", out="task-state")),
        Door("tasks.update_task", setup("save-task", put=card(""), before=[PICKED]), EITHER, EITHER),
        Door("tasks.add_task", setup("save-task", put=card("brand-new"), before=[NEW], pick=False), OWN, OWN),
        Door("tasks.list_progress", setup("people", "select")),
        Door("tasks.show_run", setup("shown-run", "input", first=("prefill",), put=run_label, pick=False)),
        Door("scrutiny.design.get_design", setup("task-picker", "change", out="design-state")),
        Door("scrutiny.design.set_design", setup("save-design", put=fixed(design_blind=20), before=[PICKED])),
        Door("importing.importing.import_file", setup("import-go", put=upload, first=("import",)), EITHER, EITHER),
        *(
            Door(f"importing.hub.{name}", setup(button, put=put, first=("import",), pick=False), OWN, OWN)
            for name, button, put in (
                ("search_hub", "hub-find", fixed(hub_words="study")),
                ("look_at_hub", "hub-find", fixed(hub_words="team/study")),
                ("preview_hub", "hub-show", hub_part),
                ("import_hub", "import-go", hub_seen),
            )
        ),
        Door("importing.hub.list_sources", setup("import", "select"), EITHER, EITHER),
        Door("task_keeping.list_archived", setup("task-picker", "change", out="archive-offer", pick=False), OWN, OWN),
        Door("task_keeping.copy_setup", setup("copy-task", put=fixed(copy_name="A copy"))),
        Door("task_keeping.archive_task", setup("archive-task", put=short_name)),
        Door("task_keeping.restore_task", setup("restore-task", before=[PICKED], put=fixed(archived="away"),
                                                pick=False), OWN, OWN),
        Door("people.teams.get_team", setup("people", "select")),
        Door("people.teams.set_team", setup("team-save", put=fixed(team_each=0, team_names=[]))),
        Door("task_keeping.list_archived_runs", setup("prefill", "select", out="runs")),
        Door("task_keeping.archive_run", setup("archive-run", put=fixed(run_typed="queued"))),
        Door("task_keeping.restore_run", setup("restore-run", first=("prefill",), put=fixed(archived_runs="old"))),
        Door("drafting.unscored.list_unscored", setup("unscored-run", "input", first=("prefill",), pick=False,
                                                     put=fixed(unscored_run="fused")), OWN, OWN),
        *(Door(f"scrutiny.browsing.{name}", setup("data", "select")) for name in ("list_instances", "list_systems")),
        Door("scrutiny.browsing.list_instances", setup("data-only", "input", first=("data",))),
        Door("scrutiny.browsing.view_instance", setup("data-instance", "input", first=("data",), put=looked_at,
                                                      pick=False)),
        Door("importing.columns.list_columns", setup("task-picker", "change", out="task-state")),
        Door("importing.columns.set_columns", setup("save-columns", put=seen_by_people, before=[PICKED])),
        *(Door(f"scrutiny.review.{name}", setup("review", "select"))
          for name in ("list_changes", "list_disputes", "list_habits")),
        Door("scrutiny.review.list_changes", setup("review-who", "input", first=("review",))),
        Door("scrutiny.review.compare_people", setup("review-compare", first=("review",), put=compared, pick=False)),
        Door("scrutiny.inbox.list_messages", setup("inbox", "select")),
        Door("scrutiny.inbox.answer_message", setup("inbox-send", first=("inbox",), put=fixed(
            inbox_message="1", inbox_text="Thank you."), pick=False), EITHER, ALL, says="not there any more"),
        Door("scrutiny.inbox.count_open_messages", event(MAIN, "task-picker", "change"), part=True),
        Door("scrutiny.inbox.list_answers", event(MAIN, "task-picker", "change")),
        *(Door(f"planning.{name}", setup("plan", "select")) for name in ("get_planning", "list_plan_systems")),
        Door("planning.get_planning", setup("plan-work", first=("plan",))),
        Door("planning.declare_rule", setup("rule-declare", first=("plan",))),
        Door("scrutiny.review.adjudicate", setup("review-decide", first=("review",), put=decision, pick=False)),
    ]  # fmt: skip


def short_name(world: World, page: Page, who: str, which: str) -> dict[str, Any]:
    return {"archive-typed": slug_of("demo", which)}


def looked_at(world: World, page: Page, who: str, which: str) -> dict[str, Any]:
    return {"data-instance": {"own": "1a", "other": "2b", "none": "no-such"}[which]}


def seen_by_people(world: World, page: Page, who: str, which: str) -> dict[str, Any]:
    """Nothing is shown to anybody: of a task without further columns that is all there is to choose."""
    return {"columns-shown": [], "columns-people": []}


def setup_prefill() -> list[Door]:
    opened: dict[str, Any] = {"first": ("prefill",)}
    start = setup("prefill-start", put=fixed(prefill_model="test-model"), **opened)
    queued = (
        "drafting.jobs.start_job",
        "drafting.preparing.prepare_run",
        "drafting.execution.run_drafting",
    )
    return [
        *(Door(name, start) for name in queued),
        Door(
            "criteria.listed.establish_preset",
            setup("preset-criteria", put=fixed(prefill_preset="closer-look"), **opened),
        ),
        *(
            Door(name, setup("pilot-start", put=fixed(prefill_model="m", criteria_per_call=0), **opened))
            for name in ("drafting.before.comparing.start_pilot", "drafting.jobs.start_job")
        ),
        Door(
            "drafting.before.comparing.compare_ways",
            setup("pilot-compare", put=fixed(prefill_model="m", criteria_per_call=0), **opened),
            says="There is no run",
        ),
        Door(
            "drafting.assistants.correlate_run",
            setup("followed-run", "input", put=fixed(followed_run="fused"), **opened),
        ),
        Door("drafting.jobs.restart_job", setup("job-resume", **opened)),
        Door("drafting.jobs.restart_job", setup("job-retry", **opened)),
        Door("drafting.jobs.cancel_job", setup("job-cancel", **opened)),
        Door("drafting.before.question_preview.show_question",
             setup("prefill-question", put=fixed(prefill_model="m"), **opened)),
        Door("drafting.before.estimating.estimate_run",
             setup("prefill-estimate", put=fixed(prefill_model="m"), **opened)),
        *(Door(name, setup("prefill", "select"))
          for name in ("drafting.jobs.list_jobs", "drafting.helping.list_steps",
                       "drafting.assistants.list_assistant_names")),
        Door("drafting.helping.list_steps", setup("steps-criterion", "input", put=steps, **opened)),
        Door("drafting.helping.save_steps", setup("save-steps", put=steps, pick=False, **opened)),
        Door("drafting.helping.draft_steps", setup("Draft missing steps", **opened), says=NO_MODEL),
        Door("drafting.helping.draft_plan", setup("draft-plan", **opened), says=NO_MODEL),
    ]  # fmt: skip


def setup_people() -> list[Door]:
    role = named("role-name", role_role="annotator")
    group, account = chosen("group-names", group_group="expert"), named("role-name")
    opened: dict[str, Any] = {"first": ("people",), "pick": False}
    return [
        Door("people.membership.list_members", setup("people", "select", pick=False), OWN, OWN),
        Door("people.membership.set_group", setup("group-save", put=group, **opened)),
        # nobody disables their own account
        Door(
            "people.membership.disable_account", setup("account-disable", put=account, **opened), ("other",)
        ),
        Door("people.membership.enable_account", setup("account-enable", put=account, **opened)),
        Door("people.sessions.set_role", setup("role-save", first=("people",), put=role, pick=False)),
        Door("people.sessions.end_sessions", setup("sessions-end", put=named("sessions-name"), pick=False)),
        Door("people.accounts.list_invitations", setup("hosting", "select", pick=False), OWN, OWN),
        Door(
            "people.accounts.revoke_invitation",
            setup("invite-revoke", put=fixed(invite_key="00000000"), pick=False),
            OWN,
            OWN,
            says="no open link",
        ),
        Door("people.accounts.invite", setup("invite-make", put=named("invite-name"), pick=False)),
        Door(
            "moving.importing.import_study_file", setup("study-import", put=study_file, pick=False), OWN, OWN
        ),
        *(
            Door(f"exporting.hub.pushing.{name}", setup(button, put=PUBLISHED), OWN, OWN)
            for name, button in (("preview_push", "publish-look"), ("push_study", "publish-send"))
        ),
        Door("moving.merging.merge_study_file", setup("study-merge", put=study_file), OWN, OWN),
        Door("hosting.shipped.get_shipped", at("GET", "/api/shipped"), OWN, OWN),
        Door("hosting.image_hosts.list_image_hosts", setup("hosting", "select", pick=False), OWN, OWN),
        Door(
            "hosting.image_hosts.set_image_hosts",
            setup("image-hosts-save", put=fixed(image_hosts="pics.example.org"), pick=False),
            OWN,
            OWN,
        ),
        Door("hosting.snapshots.get_alert", setup("", "load", pick=False, out="alert"), OWN, OWN),
        Door("hosting.snapshots.get_snapshots", setup("hosting", "select", pick=False), OWN, OWN),
        Door(
            "hosting.snapshots.take_snapshot", setup("snapshot-take", pick=False), OWN, OWN, says="No place"
        ),
    ]


def setup_crowd() -> list[Door]:
    planned: dict[str, Any] = {"first": ("crowd",), "task": "joined"}
    in_exam: dict[str, Any] = {"first": ("crowd-people",), "task": "exam", "pick": False}
    said = chosen("crowd-who", crowd_comment="As was agreed.")
    twice = chosen("crowd-who", repeat="crowd-comment")
    return [
        Door("crowd.plans.get_plan", setup("crowd", "select")),
        Door("crowd.plans.set_plan", setup("crowd-save", **planned)),
        Door("crowd.plans.get_link", setup("crowd", "select", task="joined")),
        Door("crowd.plans.renew_link", setup("crowd-renew", **planned)),
        *(
            Door("crowd.plans.set_state", setup(f"crowd-{state}", **planned))
            for state in ("running", "paused", "closed")
        ),
        Door("crowd.exams.set_keys", setup("crowd-keys-save", first=("crowd",), put=KEYS)),
        Door("crowd.overview.get_overview", setup("crowd-people", "select", task="joined"), part=True),
        Door("crowd.overview.list_reviews", setup("crowd-people", "select", task="joined"), part=True),
        Door("crowd.plans.decide", setup("crowd-admit", put=said, **in_exam)),
        Door("crowd.plans.decide", setup("crowd-refuse", put=said, **in_exam)),
        Door("crowd.plans.reject", setup("crowd-reject", put=said, **in_exam)),
        # an owner's own data is not removed: the study rests on it
        Door("crowd.plans.remove_person", setup("crowd-remove", put=twice, **in_exam), ("other",)),
    ]


def setup_prolific() -> list[Door]:
    """Without a token every one ends where Prolific would be asked; ``tests/study/crowd`` asks a stand-in."""
    opened: dict[str, Any] = {"first": ("prolific",), "task": "joined"}
    written, named_ = fixed(prolific_text="Hello."), fixed(prolific_bonus_name="thanks")
    of_token: dict[str, Any] = {"says": "PROLIFIC_TOKEN"}
    return [
        Door("crowd.prolific.publishing.draft_study", setup("prolific-draft", **opened), **of_token),
        Door("crowd.prolific.publishing.publish_study", setup("prolific-publish", **opened), **of_token),
        Door("crowd.prolific.filters.find_filters", setup("prolific-find", **opened), **of_token),
        Door("crowd.prolific.more_places.top_up", setup("prolific-places", **opened), **of_token),
        Door("crowd.prolific.reviewing.get_live", setup("prolific-all", **opened), **of_token),
        Door("crowd.prolific.reviewing.review", setup("prolific-approve", **opened), **of_token),
        Door("crowd.prolific.bonuses.pay_bonus", setup("prolific-bonus", put=named_, **opened), **of_token),
        Door(
            "crowd.prolific.messaging.message_workers",
            setup("prolific-message", put=written, **opened),
            **of_token,
        ),
        Door("crowd.prolific.settling.settle", setup("prolific-settle", **opened), **of_token),
        Door(
            "crowd.prolific.request_record.list_asked", setup("prolific", "select", task="joined"), part=True
        ),
        Door("crowd.prolific.request_record.export_asked", at("GET", "/s/{task}/prolific.csv", "joined")),
    ]


DOORS: tuple[Door, ...] = (
    *study_steps(),
    *scrutiny_doors(),
    *downloads(),
    *criteria_tab(),
    *judge_tab(),
    *setup_tasks(),
    *setup_prefill(),
    *setup_people(),
    *setup_crowd(),
    *setup_prolific(),
)

ELSEWHERE = {
    "coeval.study.hosting.upkeep.check_file": "cli/upkeep.py",
    "coeval.study.hosting.upkeep.back_up": "cli/upkeep.py",
    "coeval.study.exporting.export.export_folder": "cli/exporting.py",
    "coeval.study.exporting.export.export_as": "cli/exporting.py",
    "coeval.study.moving.exporting.export_study_file": "cli/study.py",
    "coeval.study.statistics.get_table_files": "cli/output.py",
    "coeval.study.statistics.get_frames": "study/replicating/coeval_paper.py",
    "coeval.study.drafting.batches.read_results": "cli/judging/batches.py",
    "coeval.study.drafting.batches.write_questions": "cli/judging/batches.py",
    "coeval.study.importing.importing.import_study": "study/importing/demo.py",
    "coeval.study.drafting.before.comparing.run_pilot": "cli/judging/drafting.py",
    "coeval.study.criteria.listed.establish_list": "cli/criteria.py",
    "coeval.study.judging.deferring.list_deferred": "cli/judging/making.py",
}
"""Use cases that no route and no event leads to, with the file that calls them; none where only Python does."""

OWNERS_DOOR = {"coeval.study.tasks.get_task_state", "coeval.study.drafting.assistants.correlate_run"}
"""What the table gives to more people than its only door over HTTP lets through: Set-up is for owners."""
