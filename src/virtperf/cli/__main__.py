"""`python -m virtperf.cli`."""

from virtperf.cli import main

main()
