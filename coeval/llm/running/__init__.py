"""Run many calls: concurrency, the ledger of answers, progress, forecasts and batch files."""
