"""`holdfast server run`: one memory for a team, over HTTP, each request with a user's key."""
