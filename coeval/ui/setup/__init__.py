"""Set-up, for owners: a file a tab."""
