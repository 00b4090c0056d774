"""Be busy for so many seconds, and print how many loops were done by then: work.py SECONDS"""

import sys
import time

begin = time.monotonic()
loops, shown = 0, 0.0
print("seconds,loops")
while (now := time.monotonic() - begin) < float(sys.argv[1]):
    loops += 1
    if now - shown >= 0.5:
        shown = now
        print(f"{now:.3f},{loops}", flush=True)
