"""The output of commands (text or JSON, and errors), and the options of a run that several commands share."""

from __future__ import annotations

import argparse
import errno
import json
import math
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from coeval.errors import CoevalError, InputError
from coeval.llm.prompting.presets import PRESETS, get_preset

if TYPE_CHECKING:
    from coeval.llm.running.ledger import Prices
    from coeval.usecases.drafting.item_runs import ItemReport
    from coeval.usecases.drafting.run_settings import RunSettings

INTERRUPTED = 130
"""The exit code after Ctrl+C: 128 plus the number of the signal, as in shells."""

NO_MEMORY = "there is not enough memory: allow this process more (“ulimit -v”), or close other programs."


def reported(run: Callable[[], None]) -> None:
    """Run a command; report our errors, Ctrl+C and system limits in one line on stderr."""
    try:
        run()
    except CoevalError as error:
        _end(str(error), 1)
    except KeyboardInterrupt:
        _end("interrupted by Ctrl+C.", INTERRUPTED)
    except MemoryError:
        _end(NO_MEMORY, 1)
    except (ImportError, SystemError) as error:
        # errors of libraries and of imports that run out of memory
        if "failed to map segment" not in str(error) and "without setting an exception" not in str(error):
            raise
        _end(NO_MEMORY, 1)
    except BrokenPipeError:
        raise SystemExit(1) from None
    except OSError as error:
        if error.errno not in (errno.EMFILE, errno.ENFILE):
            raise
        _end("too many files are open: allow this process more files (“ulimit -n 1024”).", 1)


def _end(text: str, code: int) -> NoReturn:
    print(f"coeval: {text}", file=sys.stderr)
    raise SystemExit(code) from None


def may_ask() -> bool:
    """Return whether somebody can answer a question on this terminal; a closed standard input is None."""
    return sys.stdin is not None and sys.stdin.isatty()


def build_reporting() -> argparse.ArgumentParser:
    """Return the option ``--json``, for the parsers of commands that call ``report``."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--json", action="store_true", help="print the result as one JSON document")
    return parser


@dataclass(frozen=True, slots=True)
class Parsers:
    """The parser's subcommands, and options that several commands share, for ``parents=``."""

    commands: argparse._SubParsersAction
    task: argparse.ArgumentParser
    """``--db`` and ``--task``."""
    task_reported: argparse.ArgumentParser
    """``--db``, ``--task`` and ``--json``."""
    common_reported: argparse.ArgumentParser
    """``--db`` and ``--json``."""
    study: argparse._SubParsersAction
    """The actions of ``study``."""


def report(options: argparse.Namespace, result: object, lines: Iterable[object]) -> None:
    """Print the result as JSON with ``--json``, else the lines."""
    if options.json:
        json.dump(_plain(result), sys.stdout, ensure_ascii=False, indent=1, allow_nan=False)
        print()
        return
    for line in lines:
        print(line)


def _plain(value: Any) -> Any:
    """Return the value in JSON types: fields by name, nan as null, other objects as text."""
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: _plain(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(entry) for entry in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, (bool, int)) else str(value)


# The options of a run that several commands share, and the settings that they give.


def add_preset_option(parser: argparse.ArgumentParser) -> None:
    """Add the option for the settings of a publication."""
    parser.add_argument(
        "--preset", choices=list(PRESETS), help="use a publication's settings; other options override them"
    )


def add_asked_again_option(parser: argparse.ArgumentParser) -> None:
    """Add the option that says whether scores from a second question count."""
    parser.add_argument(
        "--asked-again",
        choices=["in", "out"],
        default="out",
        help="include (in) or exclude (out, default) scores that the model gave only when it was asked again",
    )


def print_json(report: Any) -> None:
    """Print a report as one JSON document, with undefined numbers as null."""
    from coeval.stats import plain

    json.dump(plain(report), sys.stdout, ensure_ascii=False, indent=1, allow_nan=False)
    print()


def add_judging_options(parser: argparse.ArgumentParser) -> None:
    """Add every option of a judge. The value of an option that is not given is None, so that a preset can set it."""
    add = parser.add_argument
    flag: dict[str, Any] = {"action": "store_true", "default": None}
    add_preset_option(parser)
    add("--model", help="model to use (default: the server's)")
    add("--protocol", help="prompting protocol (default: coeval)")
    add("--samples", type=int, metavar="N", help="number of answers to average")
    add("--logprobs", help="use the expected score from log-probabilities", **flag)
    add("--temperature", type=float, help="sampling temperature")
    add("--top-p", type=float, help="nucleus sampling threshold")
    add("--max-tokens", type=int, metavar="N", help="token limit per answer")
    add("--reasoning-effort", metavar="LEVEL", help="reasoning effort (reasoning models only)")
    add("--persona", metavar="NAME", help="persona in the prompt: assistant, evaluator or your own")
    add(
        "--criteria-per-call",
        type=_read_number_of_criteria,
        metavar="all|N",
        help="criteria per question (default: 1); more than one can change the scores",
    )
    add(
        "--explain",
        choices=["uncertain", "all"],
        help="let a chat model explain decisions in words (protocol decision only; default: none)",
    )
    add("--explain-model", metavar="NAME", help="model that explains (default: the model that decides)")
    add("--reference", help="show the judge each instance's reference", **flag)
    add(
        "--templates",
        metavar="DIR",
        help="folder with your copies of the templates, or the name of a built-in set",
    )
    add("--label", help="label of the run (default: model and protocol)")
    add("--limit", type=int, metavar="N", help="draft at most N evaluations now")
    add("--steps", help="include evaluation steps in the prompt (auto-CoT)", **flag)
    add(
        "--plan",
        type=Path,
        metavar="FILE",
        help="file with the evaluation plan (fusion only; default: drafted by the model)",
    )
    add("--plan-model", metavar="NAME", help="model that drafts the plan (fusion only; default: --model)")
    add(
        "--assistants",
        nargs="+",
        metavar="NAME|column:low:high:what it measures",
        help="assistant evaluators to use, such as “nli:0:1:does the source entail the answer” (fusion only)",
    )
    add("--ablation", help="leave out all assistants (fusion only)", **flag)
    add("--retry-unscored", help="ask again about unscored drafts", **flag)


def add_item_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of a run that an extension makes; ``read_given`` reads them into its ``ItemSettings``."""
    add = parser.add_argument
    add("--model", help="model to use (default: the server's)")
    add("--label", help="label of the run (default: the model); an existing run is continued")
    add("--temperature", type=float, help="sampling temperature")
    add("--max-tokens", type=int, metavar="N", help="token limit per answer")
    add("--limit", type=int, metavar="N", help="ask at most N questions now")
    add("--concurrency", type=int, metavar="N", help="number of simultaneous requests")
    add("--retry-unscored", action="store_true", help="ask again about unscored items")
    add("--replay", action="store_true", help="use only saved answers and send no requests")


def report_items(options: argparse.Namespace, done: ItemReport) -> None:
    """Print the report of such a run, and exit with 1 if it is not complete."""
    report(options, done, [done, *(f"  {n:,} unscored: {reason}" for reason, n in done.reasons.items())])
    if not done.complete:
        raise SystemExit(1)


def add_price_options(parser: argparse.ArgumentParser) -> None:
    """Add the options for the prices of tokens."""
    add = parser.add_argument
    add("--price-in", type=float, default=0.0, help="price per million prompt tokens")
    add("--price-out", type=float, default=0.0, help="price per million answer tokens")
    add("--price-cached", type=float, help="price per million prompt tokens from the provider's cache")


def read_prices(options: argparse.Namespace) -> Prices:
    """Return the prices from these options."""
    from coeval.llm.running.ledger import Prices

    return Prices(options.price_in, options.price_out, options.price_cached)


def read_judging_options(options: argparse.Namespace) -> RunSettings:
    """Return the settings from these options. An option overrides the preset, and the preset overrides the
    default.

    Raises:
        InputError: the plan cannot be read.
    """
    from coeval.usecases.drafting.run_settings import RunSettings

    given = read_given(options, [member.name for member in fields(RunSettings)])
    if "plan" in given:
        given["plan"] = _read_plan(options.plan)
    if "assistants" in given:
        given["assistants"] = tuple(options.assistants)
    values: dict[str, Any] = dict(get_preset(options.preset).settings) if options.preset else {}
    return RunSettings(**(values | given))


def read_given(options: argparse.Namespace, names: list[str]) -> dict[str, Any]:
    """Return the given options with these names."""
    values = {name: getattr(options, name, None) for name in names}
    return {name: value for name, value in values.items() if value is not None}


def _read_number_of_criteria(text: str) -> int:
    if text == "all":
        return 0
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"“{text}” is neither “all” nor a number of criteria from 1")
    return int(text)


def _read_plan(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read as a plan: {error}.") from error
