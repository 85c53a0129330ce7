"""Active time: idle cut after a minute, hidden pages not counted, one tab at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.support.screens.ui_steps import press, wait_saved

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.support.screens.bench import Bench


def open_clocked(page: Page, bench: Bench) -> Page:
    """The first step, with the page's clocks standing still at its opening."""
    page.clock.install()
    bench.open_bench(page)
    page.clock.pause_at(page.evaluate("Date.now() / 1000 + 1"))
    page.mouse.move(5, 5)
    return page


def pass_time(page: Page, seconds: float) -> None:
    page.clock.run_for(int(seconds * 1000))


def confirm(page: Page, bench: Bench) -> dict[str, Any]:
    press(page, "a", "4", "a", "a", "a", "Control+Enter")
    page.clock.resume()
    wait_saved(page, bench, 1)
    return bench.requests[0]


def test_a_long_pause_counts_for_a_minute(page: Page, bench: Bench) -> None:
    # 10 s, a move, 300 s away of which 60 count, a move, 5 s: 75 s.
    open_clocked(page, bench)
    before = page.evaluate("performance.now()")
    pass_time(page, 10)
    page.mouse.move(50, 50)
    pass_time(page, 300)
    page.mouse.move(60, 60)
    pass_time(page, 5)
    assert page.evaluate("performance.now()") - before == pytest.approx(315_000, abs=50)
    opening = 2_500  # at most: the page's own clock ran while it opened
    assert 75_000 <= confirm(page, bench)["active_ms"] <= 75_000 + opening


def test_two_tabs_never_count_at_once(page: Page, bench: Bench) -> None:
    bench.open_bench(page)
    script = """async ([idle, other]) => {
        const { StepClock } = await import('/ui/scrutiny/timing.js');
        let now = 0;
        window.tick = (ms) => { now += ms };
        window.clock = new StepClock('someone', { isShown: () => true, now: () => now });
        window.clock.begin();
    }"""
    other = page.context.new_page()
    bench.open_bench(other)
    for tab in (page, other):
        tab.evaluate(script, [60_000, True])
        page.wait_for_timeout(200)  # what the first tab says has to arrive before the second begins
    tick = "(ms) => window.tick(ms)"

    def pass_both(ms: int) -> None:
        for tab in (page, other):
            tab.evaluate(tick, ms)

    page.wait_for_function("!window.clock.time.running", polling=50)
    # The second tab took over when it began. 4 s there, a touch here, 3 s here, a touch there, 2 s there.
    pass_both(4000)
    page.evaluate("window.clock.touch()")
    other.wait_for_function("!window.clock.time.running", polling=50)
    pass_both(3000)
    other.evaluate("window.clock.touch()")
    page.wait_for_function("!window.clock.time.running", polling=50)
    pass_both(2000)
    assert page.evaluate("window.clock.ms") == 3000
    assert other.evaluate("window.clock.ms") == 6000


def test_the_sum_is_exact(page: Page, bench: Bench) -> None:
    bench.open_bench(page)
    script = """async () => {
        const { ActiveTime } = await import('/ui/scrutiny/timing.js');
        const time = new ActiveTime(60_000);
        const seen = [];
        time.begin(1000, 500);
        time.input(11_000);           // 10 s
        seen.push(time.reckon(71_000));   // the whole minute after it
        seen.push(time.reckon(90_000));   // and no more
        time.input(100_000);          // back
        time.pause(103_000);          // 3 s
        time.input(200_000);          // not while paused
        seen.push(time.reckon(200_001));
        return seen;
    }"""
    # 500 kept + 10,000 + 60,000 = 70,500; unchanged; + 3,000 + 1 = 73,501.
    assert page.evaluate(script) == [70_500, 70_500, 73_501]
