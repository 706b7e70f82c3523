"""Briefs, closing, evidence for scars, injection triggers and connections between records."""
