"""One Chromium for all walks."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.screens.browser import launch_chromium


@pytest.fixture(scope="package")
def chromium() -> Iterator[object]:
    yield from launch_chromium()
