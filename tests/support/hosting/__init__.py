"""Stand-ins for what a hosted study leans on, and writers that are killed."""
