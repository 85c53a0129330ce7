"""CSV, JSON Lines and Excel files, and what they share."""
