"""Read the data of other systems as values of `model.foreign`, without changing it."""
