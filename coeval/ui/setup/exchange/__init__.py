"""Set-up: what comes in and what goes out."""
