"""Run a judge from its file: scores, gate, drift, adapters."""
