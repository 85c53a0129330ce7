"""Set-up, Review: what people did, side by side."""
