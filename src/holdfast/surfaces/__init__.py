"""Names and shapes others expect: tool surfaces over the verbs."""
