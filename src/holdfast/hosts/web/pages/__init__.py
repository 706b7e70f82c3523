"""The pages, by topic: each function takes what was asked and gives a page."""
