"""Program files are read, never imported: they are no tests."""

collect_ignore = ["programs"]
