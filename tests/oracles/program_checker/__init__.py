"""A checker of programs with rules of its own, from before there was one set: an oracle."""
