"""Set-up, Prolific: a study there is drafted, published, watched, reviewed and paid."""
