"""Labelled sentences, pairs and questions, and the training of the classifier that learns from them."""
