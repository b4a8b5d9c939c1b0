"""`python -m bayesdp`: the command, where it is not on the path."""

from bayesdp.cli import main

if __name__ == "__main__":
    main()
