"""``python -m gangproof``: the command line, where the console script is not on the path."""

from gangproof.cli import main

if __name__ == "__main__":
    main()
