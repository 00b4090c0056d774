"""`python -m rawperf`."""

from rawperf.cli import main

main()
