"""`swapon -s` and /proc/swaps."""
