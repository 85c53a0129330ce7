"""The bridge from a judge to the next: links to people's scale, and the old results restated on it."""
