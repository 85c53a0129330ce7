"""A judge within other tools: an Inspect scorer, a promptfoo assertion, an assertion for pytest."""
