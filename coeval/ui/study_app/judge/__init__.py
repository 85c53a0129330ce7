"""The Judge tab: split and seal, learn, certify, take the judge away."""
