"""What the tests of the screens share: the real app with a study per test."""

from tests.support.screens.bench import bench, bench_server  # noqa: F401
