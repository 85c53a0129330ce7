"""Run a judge from its file: scoring, gates, drift checks and adapters."""
