"""Many calls: how many at once, the ledger of answers, progress and estimates, batch files."""
