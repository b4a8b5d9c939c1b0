"""One file for each theorem: `bound(conversion)` re-proves its level as a ball."""
