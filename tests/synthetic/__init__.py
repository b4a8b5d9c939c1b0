"""Tests of the room `synthetic`."""
