"""`python -m laneway` is the command `laneway`."""

from laneway.cli import main

main()
