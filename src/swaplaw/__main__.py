"""`python -m swaplaw`: the command line."""

from swaplaw.cli import main

main()
