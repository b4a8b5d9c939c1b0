"""That no output of any command holds a value of the private table."""
