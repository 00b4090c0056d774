"""Print expected_requests.json: numbers of the request logs among the samples, by pandas alone.

Run it as ``python expected_requests.py > expected_requests.json``. `xml` and `csv` are pandas' own readers.
"""

import json
import math
from pathlib import Path

import pandas as pd

HERE = Path(__file__).parents[1] / "samples"


def numbers(start, seconds, ok):  # all in seconds
    good = seconds[ok].sort_values().to_list()
    span = (start + seconds).max() - start.min()
    return {
        "mean": sum(good) / len(good),
        "p50": good[math.ceil(0.50 * len(good)) - 1],
        "p99": good[math.ceil(0.99 * len(good)) - 1],
        "throughput": len(good) / span,
        "successes": len(good),
        "failures": int((~ok).sum()),
    }


def jmeter(frame, start="timeStamp", elapsed="elapsed", success="success"):
    t = (
        frame[start] / 1e3
        if frame[start].dtype == int
        else frame[start].astype("datetime64[ms]").astype("int64") / 1e3
    )
    return numbers(t, frame[elapsed] / 1e3, frame[success])


def k6(frame):
    done = frame[frame["metric_name"] == "http_req_duration"]
    seconds = done["metric_value"] / 1e3
    ok = done["expected_response"].astype(str).str.lower() == "true"
    return numbers(done["timestamp"] / 1e3 - seconds, seconds, ok)


def vegeta(frame):
    return numbers(frame[0] / 1e9, frame[2] / 1e9, frame[1].between(200, 399))


print(
    json.dumps(
        {
            "jmeter/jmeter-5.6.3.csv": jmeter(pd.read_csv(HERE / "jmeter/jmeter-5.6.3.csv")),
            "jmeter/jmeter-5.6.3-dates.csv": jmeter(
                pd.read_csv(HERE / "jmeter/jmeter-5.6.3-dates.csv", parse_dates=["timeStamp"])
            ),
            "jmeter/jmeter-5.6.3.xml": jmeter(
                pd.read_xml(HERE / "jmeter/jmeter-5.6.3.xml", parser="etree"), "ts", "t", "s"
            ),
            "vegeta/failing.csv": vegeta(pd.read_csv(HERE / "vegeta/failing.csv", header=None)),
            "k6/k6.csv": k6(pd.read_csv(HERE / "k6/k6.csv", low_memory=False)),
        },
        indent=1,
    )
)
