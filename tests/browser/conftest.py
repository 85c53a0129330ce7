"""What the tests of the screens share: one Chromium, and the real app with a study per test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.screens.bench import bench, bench_server  # noqa: F401
from tests.support.screens.browser import launch_chromium


@pytest.fixture(scope="package")
def chromium() -> Iterator[object]:
    yield from launch_chromium()
