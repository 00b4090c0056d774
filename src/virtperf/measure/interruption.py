"""Signals that ask the harness to end: remembered, and raised where a run may be given up."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Interrupted(Exception):
    """A signal asked the harness to end; `number` is the signal's."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@contextmanager
def remembered_signals() -> Iterator[Callable[[], None]]:
    """Signals that ask for an end are remembered; what it yields raises `Interrupted` once one has
    come.

    A handler also gives programs that are started the default: they would inherit that a shell's
    background job ignores SIGINT, and monitors that are stopped by it would never end. Such a job
    goes on ignoring it itself.
    """
    came: list[int] = []

    def check() -> None:
        if came:
            raise Interrupted(came[0])

    before = {
        number: signal.getsignal(number)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    }
    for number, handler in before.items():
        ignored = handler == signal.SIG_IGN
        signal.signal(number, (lambda *_: None) if ignored else (lambda got, _: came.append(got)))
    try:
        yield check
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
