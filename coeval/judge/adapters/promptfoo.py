"""The public import path of the assertion for promptfoo."""

from coeval.extensions.judge.runtime.adapters import get_assert as get_assert
