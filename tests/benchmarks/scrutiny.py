"""From Ctrl+Enter to what comes next on screen, in Chromium: ``python -m tests.benchmarks scrutiny``.

By default one criterion at a time; with ``--all`` all criteria of an instance in one sheet. With
``--rtt 80`` one browser is on a line of 10 Mbit/s whose round trip takes 80 ms, and the other on loopback; with
``--potato URL``, a third works on that line at a Potato server whose texts begin with “Item 1.”, “Item 2.” and so on.

The real server runs in a process of its own, once with a small task and once with a large one, each in its own
file. A person works at both in turn, confirm by confirm, so that whatever else the machine does weighs on both
alike. The clock runs in the page: from the key to the frame after the next criterion has been painted.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from coeval.domain import Study
from coeval.settings import load_settings
from coeval.store import Store
from coeval.usecases.access import Context
from coeval.usecases.sessions import sign_in
from coeval.usecases.study_import import import_study
from tests.conftest import make_study
from tests.support.screens.browser import CHROMIUM_ARGS, HOW_TO_GET_IT, find_chromium
from tests.support.serving.live_server import LiveServer, start_server

SIZES = (200, 20_000)
WARM_UP = 10
GOAL_MS, GOAL_RATIO = 120.0, 1.2
WORDS = 150
"""Words of each input and output: a few paragraphs, as people judge them."""

STEP = ("a", "3", "a", "a")
SHEET = ("3", "a", "a", "a") * 2
"""The keys that decide every line of one criterion, and of two."""

CLOCK = """() => {
  window.took = [];
  const place = () => document.querySelector('.wb-jump').value
    + (document.querySelector('.wb.is-all') ? '' : document.querySelector('.wb-chip[aria-current]')?.textContent);
  window.addEventListener('keydown', (event) => {
    if (!event.ctrlKey || event.key !== 'Enter') return;
    const [start, here] = [performance.now(), place()];
    const look = () => {
      if (place() === here || document.querySelector('.rt-step:disabled')) return requestAnimationFrame(look);
      return requestAnimationFrame(() => window.took.push(performance.now() - start));
    };
    requestAnimationFrame(look);
  }, true);
}"""


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table; the exit code says whether both goals were met."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks scrutiny", description=__doc__)
    parser.add_argument("--confirms", type=int, default=100, help="confirms on each task")
    parser.add_argument("--sizes", type=int, nargs=2, default=SIZES, help="instances of the two tasks")
    parser.add_argument("--all", action="store_true", help="all criteria of an instance in one sheet")
    parser.add_argument(
        "--weight", action="store_true", help="requests and bytes of the page, cold and on a reload"
    )
    parser.add_argument(
        "--rtt", type=int, metavar="MS", help="a slow line beside loopback, and its first page"
    )
    parser.add_argument("--potato", metavar="URL", help="with --rtt, the next item of a Potato server too")
    options = parser.parse_args(argv)
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        print(HOW_TO_GET_IT, file=sys.stderr)
        return 2
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        if options.rtt:
            files = [prepare(folder / f"{name}.db", options.sizes[0]) for name in ("loopback", "line")]
        else:
            sizes = options.sizes[:1] if options.weight else options.sizes
            files = [prepare(folder / f"{size}.db", size) for size in sizes]
        servers = [start_server(db) for db in files]
        for server in servers:
            stack.callback(server.stop)
        driver = stack.enter_context(sync_playwright())
        chromium = driver.chromium.launch(executable_path=find_chromium(), args=CHROMIUM_ARGS)
        stack.callback(chromium.close)
        if options.rtt:
            if options.potato:
                next_ms = statistics.median(measure_potato(chromium, options.potato, options.rtt))
                print(f"Potato, next item on this line: {next_ms:.0f} ms")
            return report_line(options.rtt, *measure_line(chromium, servers, options.rtt, options.confirms))
        if options.weight:
            return report_weight(weigh(chromium, servers[0]))
        pages = [open_scrutiny(chromium, server, whole=options.all) for server in servers]
        took = measure(pages, options.confirms, SHEET if options.all else STEP)
    return report(options.sizes, took)


LINE_BYTES = 10_000_000 / 8
READING_MS = 1_000
"""Between two confirms: nobody reads faster, and by then the next step is here."""
BEYOND_MS, FIRST_KEY_S, RELOADED_S = 20.0, 2.0, 1.0


def slow_down(page: Any, rtt: int) -> None:
    network = page.context.new_cdp_session(page)
    network.send("Network.enable")
    network.send(
        "Network.emulateNetworkConditions",
        {"offline": False, "latency": rtt, "downloadThroughput": LINE_BYTES, "uploadThroughput": LINE_BYTES},
    )


def measure_line(
    chromium: Any, servers: Sequence[LiveServer], rtt: int, confirms: int
) -> tuple[list[list[float]], list[list[float]]]:
    """Milliseconds of each confirm on loopback and on the line; seconds of cold pages and reloads on the line."""
    pages = [open_scrutiny(chromium, server, whole=False) for server in servers]
    slow_down(pages[1], rtt)
    took = measure(pages, confirms, STEP, pause=READING_MS)
    opened: list[list[float]] = [[], []]
    for _ in range(5):
        page = chromium.new_context(storage_state=pages[1].context.storage_state()).new_page()
        slow_down(page, rtt)
        for seconds, go in zip(
            opened, (partial(page.goto, f"{servers[1].url}/?tab=scrutiny"), page.reload), strict=True
        ):
            started = time.perf_counter()
            go(wait_until="commit")
            page.locator(".wb[data-state=step] .rt-row:focus").first.wait_for()
            seconds.append(time.perf_counter() - started)
        page.context.close()
    return took, opened


POTATO_ITEM = "() => /Item (\\d+)\\./.exec(document.body.innerText)?.[1]"


def measure_potato(chromium: Any, url: str, rtt: int, items: int = 15) -> list[float]:
    """Milliseconds from Potato's key for the next item until that item is on screen."""
    page = chromium.new_context().new_page()
    page.goto(url)
    page.locator("input[type=text], input[name=email]").first.fill("ana")
    page.keyboard.press("Enter")
    page.wait_for_function(POTATO_ITEM)
    slow_down(page, rtt)
    took = []
    for _ in range(items):
        page.keyboard.press("3")
        page.wait_for_timeout(READING_MS)
        here, started = page.evaluate(POTATO_ITEM), time.perf_counter()
        page.keyboard.press("ArrowRight")
        page.wait_for_function(f"here => ![here, undefined].includes(({POTATO_ITEM})())", arg=here)
        took.append(1000 * (time.perf_counter() - started))
    page.context.close()
    return took


def report_line(rtt: int, took: Sequence[Sequence[float]], opened: Sequence[Sequence[float]]) -> int:
    near, far = (statistics.median(times) for times in took)
    print("| line | confirms | median | 95th percentile |\n|---|---:|---:|---:|")
    for name, times in zip(("loopback", f"{rtt} ms, 10 Mbit/s"), took, strict=True):
        p95 = statistics.quantiles(times, n=20)[-1]
        print(f"| {name} | {len(times)} | {statistics.median(times):.0f} ms | {p95:.0f} ms |")
    cold, again = map(statistics.median, opened)
    print(f"Confirm to next: {far - near:.0f} ms beyond loopback (goal: at most {BEYOND_MS:.0f})")
    print(
        f"cold page to first key {cold:.2f} s (goal: {FIRST_KEY_S}), reload {again:.2f} s (goal: {RELOADED_S})"
    )
    return 0 if far - near <= BEYOND_MS and cold <= FIRST_KEY_S and again <= RELOADED_S else 1


def prepare(db: Path, size: int) -> Path:
    """A file with one task of so many instances, every one of them drafted by two criteria."""
    started = time.perf_counter()
    context = Context(Store(db), load_settings({}, db=db))
    owner = sign_in(context, "Olu")[0]
    import_study(context, owner, lengthen(make_study(size // 2)))
    context.store.close()
    print(f"{size:,} instances prepared in {time.perf_counter() - started:.0f} s", flush=True)
    return db


COLD_REQUESTS, COLD_BYTES, RELOAD_REQUESTS = 40, 350_000, 10


Weight = tuple[int, int, list[str]]


def weigh(chromium: Any, server: LiveServer) -> list[Weight]:
    """Requests that reach the server, their bytes as sent, and their paths: with an empty cache, and on a reload."""
    state = open_scrutiny(chromium, server, whole=False).context.storage_state()
    page = chromium.new_context(storage_state=state).new_page()
    network = page.context.new_cdp_session(page)
    network.send("Network.enable")
    asked, kept, sent = dict[str, str](), set[str](), dict[str, int]()
    network.on(
        "Network.requestWillBeSent",
        lambda event: asked.__setitem__(event["requestId"], urlsplit(event["request"]["url"]).path),
    )
    network.on("Network.requestServedFromCache", lambda event: kept.add(event["requestId"]))
    network.on(
        "Network.loadingFinished",
        lambda event: sent.__setitem__(event["requestId"], event["encodedDataLength"]),
    )
    weights = []
    for go in (lambda: page.goto(f"{server.url}/?tab=scrutiny"), page.reload):
        asked.clear()
        kept.clear()
        sent.clear()
        go()
        page.locator(".wb[data-state=step] .rt-row").first.wait_for()
        page.wait_for_load_state("load")
        page.wait_for_timeout(2_000)
        paths = [path for request, path in asked.items() if request not in kept]
        weights.append(
            (len(paths), sum(size for request, size in sent.items() if request not in kept), paths)
        )
    return weights


def report_weight(weights: Sequence[Weight]) -> int:
    (requests, size, paths), (again, size_again, _) = weights
    parts = [path for path in paths if path.startswith("/assets/")]
    events = [path for path in paths if path.startswith("/gradio_api/")]
    others = [path for path in paths if path not in (*parts, *events)]
    print(f"Gradio's own scripts, one for each kind of component and its parts ({len(parts)}):", *parts)
    print(f"Gradio's events ({len(events)}):", *events)
    print(f"ours ({len(others)}):", *others)
    print("| page | requests | kB |\n|---|---:|---:|")
    print(f"| with an empty cache | {requests} | {size / 1000:.0f} |")
    print(f"| on a reload | {again} | {size_again / 1000:.0f} |")
    print(
        f"goals: at most {COLD_REQUESTS} requests and {COLD_BYTES / 1000:.0f} kB, {RELOAD_REQUESTS} on a reload"
    )
    return 0 if requests <= COLD_REQUESTS and size <= COLD_BYTES and again <= RELOAD_REQUESTS else 1


def lengthen(study: Study) -> Study:
    """The study with texts of a real length; what the drafts quote stays where it is."""
    more = " " + " ".join(f"word{n % 37}" for n in range(WORDS))
    longer = (replace(one, input=one.input + more, output=one.output + more) for one in study.instances)
    return replace(study, instances=tuple(longer))


def open_scrutiny(chromium: Any, server: LiveServer, *, whole: bool) -> Any:
    page = chromium.new_context(viewport={"width": 1440, "height": 900}).new_page()
    page.set_default_timeout(60_000)
    page.goto(server.url)
    page.get_by_label("Your name").fill("Ana")
    page.keyboard.press("Enter")
    page.locator("#me").get_by_text("Ana").wait_for()
    page.get_by_role("tab", name="Scrutiny").click()
    page.locator(".wb[data-state=step] .rt-row").first.wait_for()
    if whole:
        page.get_by_role("button", name="All criteria").click()
        page.locator(".wb.is-all[aria-busy=false] .rg-row").first.wait_for()
    page.evaluate(CLOCK)
    return page


def measure(pages: Sequence[Any], confirms: int, keys: Sequence[str], *, pause: int = 0) -> list[list[float]]:
    """Milliseconds of each confirm, page by page; the first ones warm up and are left out."""
    for n in range(WARM_UP + confirms):
        for page in pages:
            page.wait_for_timeout(pause)
            for key in keys:
                page.keyboard.press(key)
            page.keyboard.press("Control+Enter")
            page.wait_for_function("n => window.took.length > n", arg=n)
    return [page.evaluate("window.took")[WARM_UP:] for page in pages]


def report(sizes: Sequence[int], took: Sequence[Sequence[float]]) -> int:
    print("| instances | confirms | median | 95th percentile |")
    print("|---:|---:|---:|---:|")
    for size, times in zip(sizes, took, strict=True):
        p95 = statistics.quantiles(times, n=20)[-1]
        print(f"| {size:,} | {len(times)} | {statistics.median(times):.0f} ms | {p95:.0f} ms |")
    small, large = (statistics.median(times) for times in took)
    print(f"ratio of the medians {large / small:.2f} (goal: at most {GOAL_RATIO})")
    print(f"slower median {max(small, large):.0f} ms (goal: at most {GOAL_MS:.0f})")
    return 0 if large / small <= GOAL_RATIO and max(small, large) <= GOAL_MS else 1


if __name__ == "__main__":
    sys.exit(main())
