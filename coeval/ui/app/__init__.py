"""The study app: the tabs Criteria, Scrutiny, Agreement and Judge."""
