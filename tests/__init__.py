"""Tests, what they share, and the benchmarks."""
