"""A checker of programs with rules of its own, which `bayesdp.programs.check` had before: an oracle."""
