"""The model drafts: preparing runs, carrying them out, jobs and batch files."""
