"""What a paper takes from a report: its tables, their Markdown and LaTeX, and the methods paragraph."""
