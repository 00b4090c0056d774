"""What the commands of stages share."""

from __future__ import annotations

import functools
from typing import Any

import click

from virtperf.core.environment import check_python
from virtperf.core.paths import Layout


def stage(command: click.Command) -> click.Command:
    """Give a command the repository's layout and an argument STUDY, and check Python first."""
    click.argument("study_id", metavar="STUDY")(command)
    return checked(command)


def checked(command: click.Command) -> click.Command:
    """Give a command the repository's layout, and check the version of Python first."""
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
