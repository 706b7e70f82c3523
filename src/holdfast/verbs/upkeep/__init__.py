"""Look after the store: health, maintenance, checks, overviews, access."""
