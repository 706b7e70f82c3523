"""Read what agents did: tools, commands, turns, and observations and summaries of them."""
