"""The public path of this adapter."""

from coeval.extensions.judge.runtime.adapters import get_assert as get_assert
