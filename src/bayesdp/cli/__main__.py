"""`python -m bayesdp.cli`."""

from bayesdp.cli import main

main()
