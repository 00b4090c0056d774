"""Clients of one guest by either workload driver: experiment f.

drive.py prepare                                 compiles what starts JMeter
drive.py wrk|jmeter THINK_MS SECONDS RESULTS     becomes the driver; its report goes to RESULTS
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from cgroup import Group, Tree
from lab import CLIENT, HERE, PORT, address, compiled, folder

UNSAVED = (
    "assertions",
    "bytes",
    "data_type",
    "label",
    "latency",
    "response_code",
    "response_message",
    "subresults",
    "thread_name",
)
"""What JMeter would write of each sample beside its time, duration, success and number of clients."""
JMETER = Path("/usr/share/jmeter")
CLASSES = ":".join(
    (
        f"{JMETER}/bin/ApacheJMeter.jar",
        f"{JMETER}/lib/*",
        f"{JMETER}/lib/ext/*",
        "/usr/share/java/xstream.jar",
    )
)


def drive(driver: str, think_ms: str, seconds: str, results: str) -> None:
    path = Path(results).absolute()
    path.parent.mkdir(exist_ok=True)
    Group(Tree(), CLIENT).enter()
    os.chdir(folder())
    if driver == "wrk":
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), sys.stdout.fileno())
        url = f"http://{address(1)}:{PORT}/page.txt"
        script = ["-H", "Accept-Encoding: gzip", "-s", str(HERE / "think.lua"), url]
        command = ["wrk", "-t1", "-c4", f"-d{seconds}s", *script, "--", think_ms, f"{path}.csv"]
    else:
        save = "-Jjmeter.save.saveservice."
        options = [
            f"{save}output_format=xml",
            f"{save}thread_counts=true",
            *(f"{save}{n}=false" for n in UNSAVED),
        ]
        java = [
            "java",
            "-Xmx256m",
            f"-Djmeter.home={JMETER}",
            "-cp",
            f"{folder('java')}:{CLASSES}",
            "Launcher",
        ]
        plan = [
            "-n",
            "-t",
            str(HERE / "compress.jmx"),
            "-l",
            str(path),
            "-j",
            str(folder() / "jmeter.log"),
        ]
        command = [*java, *plan, *options, f"-Jseconds={seconds}", f"-Jthink_ms={think_ms}"]
    os.execvp(command[0], command)  # noqa: S606 - one of two drivers


if __name__ == "__main__":
    if sys.argv[1:] == ["prepare"]:
        compiled("Launcher", CLASSES)
    else:
        drive(*sys.argv[1:])
