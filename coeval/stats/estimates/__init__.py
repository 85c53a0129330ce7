"""What an estimate carries, and how its interval is computed."""
