"""Rank records: weight, decay, trust, heat and diversity."""
