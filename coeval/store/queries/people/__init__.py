"""People: accounts, sessions, enrolments."""
