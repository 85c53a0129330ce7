"""CoEval: a language model drafts an evaluation, people scrutinise it."""

__version__ = "0.1.0"
