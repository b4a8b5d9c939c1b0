"""Inputs that lie: valid documents, damaged at random, get an answer or a clear refusal."""
