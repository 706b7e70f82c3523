"""What counts more: weight, decay, trust, heat, diversity."""
