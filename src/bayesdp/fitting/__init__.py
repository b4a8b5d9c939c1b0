"""Populations from public or past data, with regions that hold the truth at a stated confidence."""
