"""Learn from what agents do: import activity, create observations, mine output, prepare the answers of hooks."""
