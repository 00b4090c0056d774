#!/usr/bin/env python3
"""Run folders from the data that the authors of the Firecracker paper published.

    python testbeds/firecracker-nsdi-2020/import_runs.py ARTIFACT data/measured/firecracker-nsdi-2020

ARTIFACT is the folder `data` of the repository firecracker-microvm/nsdi2020-data: a folder for each
machine, with `raw` and `sys` in it. Each invocation of a tool becomes a run folder, called after
the machine and the file: the file as it is under its own name, and a `run.yaml` that says what the
authors' scripts say of it. Nothing is computed here. It needs nothing but Python.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from datetime import UTC, datetime
from pathlib import Path

SYSTEMS = {
    "fc": "fc",
    "chv": "cloudhv",
    "qemu": "qemu",
    "metal": "host",
    "localhost": "host",
}
# Of a boot file: what its name says beside machine and system. The authors' scripts for boots at
# the same time start QEMU with qboot, too, and call the file "qemu".
SERIAL = {
    "fc-api": ("fc", "standard"),
    "fc-file": ("fc", "file"),
    "fc-net-api": ("fc", "network"),
    "fc-nopci-api": ("fc", "no-pci"),
    "chv": ("cloudhv", "standard"),
    "chv-net": ("cloudhv", "network"),
    "chv-bz": ("cloudhv", "bzimage"),
    "qboot": ("qemu", "standard"),
    "qboot-net": ("qemu", "network"),
    "qemu": ("qemu", "seabios"),
    "qemu-uvm": ("qemu", "microvm"),
}
PARALLEL = {
    "fc-api": ("fc", "standard"),
    "fc-file": ("fc", "file"),
    "chv": ("cloudhv", "standard"),
    "qemu": ("qemu", "standard"),
}


def main() -> None:
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    artifact, out = map(Path, sys.argv[1:])
    machines = sorted(path.parent for path in artifact.glob("*/raw"))
    if not machines:
        sys.exit(
            f"{artifact}: no folder of a machine, with raw and sys in it; "
            "give the folder data of the repository nsdi2020-data"
        )
    count = 0
    for machine in machines:
        facts = sorted((machine / "sys").iterdir())
        recorded = system_date((machine / "sys" / "sys_date.txt").read_text())
        write(out, machine, f"{machine.name}-sys", facts, recorded, {"test": "system"}, [])
        summaries = sorted(machine.glob("net-*.txt"))
        if summaries:
            name, factors = f"{machine.name}-net-summary", {"test": "summary"}
            write(out, machine, name, summaries, recorded, factors, [])
        count += 1 + bool(summaries)
        for first, files in sorted(grouped(machine / "raw").items()):
            factors = described(first)
            start = own_time(files[0]) or recorded
            of_guest = [f for f in files if f.stem.endswith("-vm") and f.stat().st_size]
            said = [{"path": f.name, "entity": "guest"} for f in of_guest]
            if first.startswith("boot-"):
                lines = len(files[0].read_bytes().splitlines())
                said = [{"path": files[0].name, "lines": lines}]
            write(out, machine, f"{machine.name}-{first}", files, start, factors, said)
            count += 1
    print(f"{count} runs")


def grouped(raw: Path) -> dict[str, list[Path]]:
    """Raw files by invocation: pmap, ps and the guest's meminfo of one guest belong together."""
    found: dict[str, list[Path]] = {}
    for file in sorted(raw.iterdir()):
        found.setdefault(re.sub(r"-(pmap|vm)$", "", file.stem), []).append(file)
    return found


def described(name: str) -> dict[str, object]:
    """The factors of a run, from the name of its file."""
    kind, _, rest = name.partition("-")
    if kind == "boot":
        way, _, rest = rest.partition("-")
        if way == "serial":
            system, variant = SERIAL[rest]
            return {"test": "boot", "system": system, "variant": variant, "at_once": 1}
        at_once, _, rest = rest.partition("-")
        system, variant = PARALLEL[rest]
        return {"test": "boot", "system": system, "variant": variant, "at_once": int(at_once)}
    system, _, rest = rest.partition("-")
    head: dict[str, object] = {"system": SYSTEMS[system]}
    if kind == "mem":
        return {"test": "memory", **head, "memory_mb": int(rest)}
    if kind == "fio":
        found = re.fullmatch(r"rand-(read|write)-(4k|128k)(-qd1)?", rest)
        assert found is not None, name
        depth = 1 if found[3] else 32
        return {"test": "io", **head, "access": f"{found[1]}-{found[2]}", "depth": depth}
    if rest == "ping":
        return {"test": "ping", **head}
    way, _, streams = rest.partition("-")
    return {"test": "network", **head, "stream": f"{way}-{int(streams)}"}


def system_date(text: str) -> str:
    """`date` as it was printed, in either of the two orders, by the machine's own clock."""
    for form in ("%a %b %d %H:%M:%S %Z %Y", "%a %d %b %H:%M:%S %Z %Y"):
        try:
            return datetime.strptime(text.strip(), form).strftime("%Y-%m-%dT%H:%M:%S")
        except ValueError:
            continue
    raise SystemExit(f"no date: {text!r}")


def own_time(file: Path) -> str | None:
    """The time that a report of fio or iperf3 carries, in UTC; None for other and empty files."""
    if file.suffix != ".json" or not file.stat().st_size:
        return None
    said = json.loads(file.read_text())
    seconds = said.get("timestamp") or said["start"]["timestamp"]["timesecs"]
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def write(
    out: Path,
    machine: Path,
    name: str,
    files: list[Path],
    start: str,
    factors: dict[str, object],
    said: list[dict[str, object]],
) -> None:
    folder = out / name
    folder.mkdir(parents=True, exist_ok=True)
    for file in files:
        shutil.copyfile(file, folder / file.name)
        (folder / file.name).chmod(0o644)
    levels = ", ".join(f"{k}: {v}" for k, v in {"machine": machine.name, **factors}.items())
    lines = [
        "# Made by testbeds/firecracker-nsdi-2020/import_runs.py. docs/run-folders.md explains "
        "every field.",
        f"study: {out.name}",
        f"run: {name}",
        "provenance: measured",
        f"factors: {{{levels}}}",
        "replicate: 1",
        f"start: '{start}'",
    ]
    if said:
        lines.append("files:")
        lines += [f"  - {{{', '.join(f'{k}: {v}' for k, v in entry.items())}}}" for entry in said]
    (folder / "run.yaml").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
