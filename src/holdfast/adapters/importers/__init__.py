"""Read the data of other systems as values of `model.replica`, without changing it."""
