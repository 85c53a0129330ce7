"""What is asked of a model and what comes back: the words that protocols and the runner share."""

from __future__ import annotations
