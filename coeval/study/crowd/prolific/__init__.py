"""Studies at Prolific: drafted, published, watched, reviewed and paid from here, each request on record."""
