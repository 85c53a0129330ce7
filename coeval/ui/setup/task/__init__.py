"""Set-up, Tasks: a task's texts, its design, and the roles of its columns."""
