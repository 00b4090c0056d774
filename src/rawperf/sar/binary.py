"""Reader of sar's binary data files (sa03, ``sar -o``), converted by sysstat's own ``sadf -j``.

Their layout changes from version to version and is not an interface.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path

from rawperf.base import ParsedFile
from rawperf.core.errors import FormatError
from rawperf.recognition import Recognised
from rawperf.sadf import FORMAT as SADF_JSON

PROGRAM = "sadf"
TIMEOUT_S = 120
MAX_OUTPUT_BYTES = 1024**3


class SarBinaryFormat(Recognised):
    """Reader of sar's binary files."""

    name = "sar-binary"
    title = "sar binary data file (sysstat), read through sadf"

    def external_version(self) -> str:
        """Version of sadf, on which a reading depends; "" if it is not installed."""
        program = shutil.which(PROGRAM)
        if program is None:
            return ""
        done = subprocess.run([program, "-V"], capture_output=True, timeout=TIMEOUT_S, check=False)  # noqa: S603 - no shell
        return (done.stdout + done.stderr).decode("utf-8", "replace").strip().partition("\n")[0]

    def read(self, data: bytes, *, file: str = "<bytes>") -> ParsedFile:
        """Read sadf's output for the file, in the local time of the monitored machine.

        The output is read as `sadf-json`. Raises `FormatError`: sadf is not installed, takes too
        long, or does not know the file.
        """
        program = shutil.which(PROGRAM)
        if program is None:
            raise FormatError(
                "sadf, which converts binary sar files, is not installed",
                file=file,
                remedy="install sysstat, or convert the file where it was recorded: sadf -j FILE -- -A > sar.json",
            )
        with tempfile.TemporaryDirectory(prefix="virtperf-") as folder:
            data_file, output_file = Path(folder) / "sa", Path(folder) / "out"
            data_file.write_bytes(data)
            environment = {"LC_ALL": "C", "PATH": os.environ.get("PATH", os.defpath)}
            try:
                with output_file.open("wb") as stream:
                    done = subprocess.run(  # noqa: S603 - no shell, and no argument from the file
                        [program, "-j", "-t", str(data_file), "--", "-A"],
                        stdin=subprocess.DEVNULL,
                        stdout=stream,
                        stderr=subprocess.PIPE,
                        timeout=TIMEOUT_S,
                        env=environment,
                        check=False,
                    )
            except (OSError, subprocess.TimeoutExpired) as err:
                raise FormatError(
                    f"sadf can't read the file ({type(err).__name__})", file=file
                ) from err
            stderr_text = (
                done.stderr.decode("utf-8", "replace").replace(str(data_file), file).strip()
            )
            size = output_file.stat().st_size
            if done.returncode or not size or size > MAX_OUTPUT_BYTES:
                raise FormatError(
                    "sadf failed to convert the file",
                    file=file,
                    found=stderr_text or f"{size} bytes of output",
                    remedy="it may be from another version: convert it with sadf -c, "
                    "or with sadf -j where it was recorded.",
                )
            try:
                parsed = SADF_JSON.read(output_file.read_bytes(), file=file)
            except FormatError as err:  # its line is one of sadf's output
                raise err.copy_as(
                    FormatError, problem=f"sadf's output: {err.problem}", line=None
                ) from err
        messages = dict.fromkeys(stderr_text.splitlines())
        complaints = tuple(
            f"{file}: sadf reports: {message}; records may be missing" for message in messages
        )
        return replace(parsed, lines=None, warnings=(*parsed.warnings, *complaints))


FORMAT = SarBinaryFormat()
