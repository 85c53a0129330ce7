"""Set-up, Pre-fill: a run is set, started and followed; its drafts are chosen, put away, and looked at."""
