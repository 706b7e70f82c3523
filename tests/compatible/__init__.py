"""What the documents of five other systems promise, tried literally: tools over stdio, commands, variables, hooks."""
