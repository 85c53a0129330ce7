"""The tokens of a study by the way to ask: ``python -m tests.benchmarks cost``.

The released ELI5 study (200 instances by 5 criteria) is drafted against the stub with one criterion in a question (the
default), with all together, with two answers to each question, and by decisions, without explanations and with
explanations of the uncertain fifth. Each estimate is compared with the use. The stub counts four characters as a token,
and the text of a decision once for all its questions: what matters are the shares.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from os.path import commonprefix
from pathlib import Path
from statistics import fmean
from typing import Any

from tests.support.models.openai_stub import Reply, Stub, start_stub
from tests.support.models.stub_answers import default_reply, reply_decision

RELEASE = Path(__file__).resolve().parents[3] / "shared" / "data" / "coeval_release_eli5"
SLUG = "eli5"
GOALS = {"share": 0.33, "estimate": 0.10, "decision": 0.33}
EXPLAINED = "decision, a fifth explained"
"""The way whose estimate holds the decisions alone."""
UNREADABLE = 33
"""One first answer in so many is made unreadable, so that asking again is counted too."""


@dataclass(frozen=True)
class Way:
    """One way to ask: what was estimated before anything was known, after a pilot, and what was used."""

    name: str
    requests: int
    prompt: int
    completion: int
    first: tuple[int, int]
    later: tuple[int, int]
    shared: float
    """Characters that a request shares with the one before, as a share of its own."""

    @property
    def off(self) -> float:
        """How far the estimate after a pilot was off, the worse of prompt and answer tokens."""
        return max(abs(excess(self.later[0], self.prompt)), abs(excess(self.later[1], self.completion)))


def excess(estimate: int, used: int) -> float:
    """How much more was estimated than used, as a share of the use."""
    return estimate / used - 1 if used else float(estimate)


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table; with ``--check`` the exit code says whether the goals were met."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks cost", description=__doc__)
    parser.add_argument("--data", type=Path, default=RELEASE, help="the folder of the released study")
    parser.add_argument("--check", action="store_true", help="exit with 1 where a goal is missed")
    options = parser.parse_args(argv)
    if not options.data.is_dir():
        print(f"The released study is not in {options.data}: give its folder with --data.", file=sys.stderr)
        return 2
    ways = run_ways(options.data)
    print(render_table(ways))
    return 1 if options.check and not all(met(ways).values()) else 0


def run_ways(data: Path) -> dict[str, Way]:
    """Draft the study in each way, each in a fresh copy of it."""
    from coeval.usecases.drafting.run_settings import RunSettings

    settings = {
        "one by one": RunSettings(),
        "all together": RunSettings(criteria_per_call=0),
        "one by one, 2 samples": RunSettings(samples=2),
        "all together, 2 samples": RunSettings(criteria_per_call=0, samples=2),
        "decision": RunSettings(protocol="decision"),
        EXPLAINED: RunSettings(protocol="decision", explain="uncertain"),
    }
    with tempfile.TemporaryDirectory() as folder:
        return {
            name: run_way(name, each, data, Path(folder) / f"{place}.db")
            for place, (name, each) in enumerate(settings.items())
        }


def run_way(name: str, settings: Any, data: Path, db: Path) -> Way:
    """Estimate, draft a pilot of 20 instances, estimate the rest, draft it, and compare."""
    from coeval.settings import Settings
    from coeval.store import Store
    from coeval.usecases.access import OPERATOR, Context
    from coeval.usecases.criteria_rounds import get_criteria_set
    from coeval.usecases.drafting.execution import run_drafting
    from coeval.usecases.drafting.preparation import estimate_run
    from coeval.usecases.study_import import import_file

    with start_stub(sometimes_unreadable(), several=True, decides=True) as stub:
        context = Context(Store(db), Settings(db=db, base_url=stub.url, model="stub", concurrency=8))
        import_file(context, OPERATOR, data, slug=SLUG)
        settings = replace(settings, label=name)
        before = estimate_run(context, OPERATOR, SLUG, settings)
        current = get_criteria_set(context, OPERATOR, SLUG)
        first = 20 * len(current.criteria if current else ())
        pilot = asyncio.run(run_drafting(context, OPERATOR, SLUG, replace(settings, limit=first)))
        after = estimate_run(context, OPERATOR, SLUG, settings)
        rest = asyncio.run(run_drafting(context, OPERATOR, SLUG, settings))
        if not rest.complete:
            raise SystemExit(str(rest))
        spent = pilot.usage
        return Way(
            name,
            stub.received,
            spent.prompt_tokens + rest.usage.prompt_tokens,
            spent.completion_tokens + rest.usage.completion_tokens,
            (before.prompt_tokens, before.completion_tokens),
            (after.prompt_tokens + spent.prompt_tokens, after.completion_tokens + spent.completion_tokens),
            shared_prefix(stub),
        )


def sometimes_unreadable() -> Any:
    """The stub's usual answers, but for a few first ones without a score."""
    numbers = itertools.count()

    def reply(body: dict[str, Any]) -> str | Reply:
        if "questions" in body:
            return Reply(raw=reply_in_fifths(body))
        asked_again = any(message["role"] == "assistant" for message in body["messages"])
        if not asked_again and next(numbers) % UNREADABLE == UNREADABLE // 2:
            return "I cannot say."
        return default_reply(body)

    return reply


def reply_in_fifths(body: dict[str, Any]) -> str:
    """The stub's usual decisions, each fifth one with equal probabilities and the others with one likely score."""
    told = json.loads(reply_decision(body))
    for answer in told["answers"].values():
        chances = list(answer["probabilities"].values())
        likely, others = max(chances), len(chances) - 1
        flat = sum(round(chance * 1000) for chance in chances[:2]) % 5 == 0
        answer["probabilities"] = {
            level: 1 / len(chances) if flat else 0.9 if chance == likely else 0.1 / others
            for level, chance in answer["probabilities"].items()
        }
    return json.dumps(told)


def shared_prefix(stub: Stub) -> float:
    """The mean share of a request's characters that equal the beginning of the request before it."""
    prompts = [
        body["state"] if "state" in body else "".join(str(message["content"]) for message in body["messages"])
        for body in stub.bodies
    ]
    pairs = zip(prompts, prompts[1:], strict=False)
    return fmean(len(commonprefix([one, other])) / len(other) for one, other in pairs)


def met(ways: dict[str, Way]) -> dict[str, bool]:
    share = ways["all together"].prompt / ways["one by one"].prompt
    return {
        "share": share <= GOALS["share"],
        "estimate": max(way.off for name, way in ways.items() if name != EXPLAINED) <= GOALS["estimate"],
        "decision": ways["decision"].prompt / ways["one by one"].prompt <= GOALS["decision"],
    }


def render_table(ways: dict[str, Way]) -> str:
    """The table in Markdown, with the goals below it."""
    whole = ways["one by one"].prompt
    lines = [
        "| | requests | prompt tokens | of one by one | answer tokens | shared with the request before "
        "| estimate before anything | after a pilot of 20 |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for way in ways.values():
        first, later = (
            f"{excess(prompt, way.prompt):+.1%}, {excess(answer, way.completion):+.1%}"
            for prompt, answer in (way.first, way.later)
        )
        lines.append(
            f"| {way.name} | {way.requests:,} | {way.prompt:,} | {way.prompt / whole:.0%} | {way.completion:,} "
            f"| {way.shared:.0%} | {first} | {later} |"
        )
    told = ", ".join(f"{name} {'met' if ok else 'MISSED'}" for name, ok in met(ways).items())
    goals = (
        f"at most {GOALS['share']:.0%} of the prompt tokens together, estimates within {GOALS['estimate']:.0%}, "
        f"decisions at most {GOALS['decision']:.0%} of the prompt tokens"
    )
    beside = "Estimates: prompt tokens and answer tokens, beside what was used."
    return "\n".join([*lines, "", beside, "", f"Goals ({goals}): {told}."])


if __name__ == "__main__":
    sys.exit(main())
