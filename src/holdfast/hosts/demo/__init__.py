"""A made-up store to look around in: three months of a team of two people and their agents."""
