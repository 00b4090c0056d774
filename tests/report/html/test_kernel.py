"""Kernels that execute notebooks: this interpreter's, and forked where a warm process stands by."""

from __future__ import annotations

import pytest

from virtperf.core.warm import ADDRESS
from virtperf.report.html.execute import LocalKernel


def test_the_kernel_is_that_of_this_interpreter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(ADDRESS, raising=False)
    kernel = LocalKernel()
    assert kernel.kernel_spec.argv[1:3] == ["-m", "ipykernel_launcher"]
    assert kernel.transport == "ipc" and kernel.provisioner is None


def test_it_is_forked_by_the_process_that_the_environment_names(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(ADDRESS, "nobody-listens-here")
    provisioner = LocalKernel().provisioner
    assert provisioner is not None and provisioner.address == "nobody-listens-here"
    assert not provisioner.has_process
