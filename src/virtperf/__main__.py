"""`python -m virtperf`."""

from virtperf.cli import main

main()
