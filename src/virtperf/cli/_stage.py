"""Decorators shared by the commands of stages."""

from __future__ import annotations

import functools
from typing import Any

import click

from virtperf.core.environment import check_python
from virtperf.core.paths import Layout


def stage(command: click.Command) -> click.Command:
    """Add the repository's layout and the argument STUDY to a command, and check Python first."""
    click.argument("study_id", metavar="STUDY")(command)
    return checked(command)


def checked(command: click.Command) -> click.Command:
    """Add the repository's layout to a command, and check the Python version first."""
    function = command.callback
    assert function is not None

    @functools.wraps(function)
    def with_layout(*arguments: Any, **options: Any) -> Any:
        layout = click.get_current_context().find_object(Layout)
        assert layout is not None
        layout.require()
        check_python(layout.root)
        return function(layout, *arguments, **options)

    command.callback = with_layout
    return command
