"""The checks of damaged files detect misbehaving readers."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
import pytest

from rawperf import ParsedFile
from rawperf.base import RecordBuilder
from rawperf.core.errors import FormatError, RawperfError
from tests.cases import each_case
from tests.rawperf import trial as module
from tests.rawperf.mutations import MUTATIONS, mutant
from tests.rawperf.trial import TooSlow, trial


class Reader:
    """A format with a given `read` function."""

    name, title = "given", "given"

    def __init__(self, read: Callable[[str], ParsedFile]) -> None:
        self._read = read

    def sniff(self, head: bytes) -> float:
        return 0.0

    def read(self, data: bytes, *, file: str = "<bytes>") -> ParsedFile:
        return self._read(file)

    def write(self, reading: ParsedFile) -> bytes:
        return b""


def one(line: int | None = 1, value: float = 1.0, said: tuple[str, ...] = ()) -> ParsedFile:
    rows = RecordBuilder()
    rows.add("", "host", "", "n", value)
    return ParsedFile(rows.take()[0], "none", {}, said, None if line is None else np.array([line]))


def refuse(line: int | None, name: bool = True) -> Callable[[str], ParsedFile]:
    def read(file: str) -> ParsedFile:
        raise FormatError("damaged", file=file if name else None, line=line)

    return read


def warn(file: str) -> ParsedFile:
    warnings.warn("odd", RuntimeWarning, stacklevel=1)
    return one()


def hang(file: str) -> ParsedFile:
    while True:
        pass


def test_readings_and_format_errors_pass() -> None:
    assert trial(Reader(lambda file: one()), b"1")[0]
    assert trial(Reader(lambda file: one(2, said=(f"{file} line 2: odd",))), b"1\n")[0]
    assert not trial(Reader(refuse(1)), b"1")[0]
    assert not trial(Reader(refuse(None)), b"1")[0]


@each_case(
    "read",
    [
        lambda file: one(2),
        lambda file: one(0),
        lambda file: one(None),
        lambda file: one(value=np.inf),
        lambda file: one(said=("odd",)),
        lambda file: one(said=(f"{file} line 2: odd",)),
        refuse(2),
        refuse(1, name=False),
    ],
)
def test_contract_violations_fail(read: Callable[[str], ParsedFile]) -> None:
    with pytest.raises(AssertionError):
        trial(Reader(read), b"1")


def test_other_exceptions_and_warnings_propagate() -> None:
    with pytest.raises(RuntimeWarning):
        trial(Reader(warn), b"1")
    with pytest.raises(ZeroDivisionError):
        trial(Reader(lambda file: one(1 // 0)), b"1")

    def other(file: str) -> ParsedFile:
        raise RawperfError("no error of a format", file=file)

    with pytest.raises(RawperfError, match="no error of a format"):
        trial(Reader(other), b"1")


def test_endless_read_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CPU_SECONDS", 0.05)
    with pytest.raises(TooSlow):
        trial(Reader(hang), b"1")


def test_mutants_are_reproducible() -> None:
    seeds = (b"a 1\nb 2\n" * 5, b"c 3.5\n" * 9)
    first = [mutant(seeds, number) for number in range(60)]
    assert first == [mutant(seeds, number) for number in range(60)]
    assert len({data for data, _ in first}) > 50


def test_every_mutation_occurs() -> None:
    seeds = (b"a 1\nb 2\n" * 5,)
    names = {name for number in range(3000) for name in mutant(seeds, number)[1].split(", ")[1:]}
    assert names == {mutation.__name__ for mutation in MUTATIONS}
