"""What an agent did: tools, commands, turns, observations and summaries of them."""
