"""The study's page: Criteria, Scrutiny, Agreement."""
