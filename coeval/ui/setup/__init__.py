"""Set-up, for owners: one file per tab."""
