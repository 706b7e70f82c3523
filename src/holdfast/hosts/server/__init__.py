"""`holdfast serve`: one memory for a team, over HTTP, each request by somebody with a key."""
