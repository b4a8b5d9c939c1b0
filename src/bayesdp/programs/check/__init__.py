"""The checker."""
