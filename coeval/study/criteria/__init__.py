"""Stage 1: proposals, ballots, the tally, and the criteria set."""
