"""Write the file formats of other systems."""
