"""Command-line interface: one module per command."""

from __future__ import annotations

import gc
import importlib
import os
import pkgutil
from pathlib import Path

import click

from rawperf.cli import SuggestingGroup, write_remedy
from rawperf.core.errors import RawperfError, visible
from virtperf import __version__
from virtperf.core.paths import Layout

STAGES = ("reconstruct", "hypotheses", "runs", "report", "synthesis", "site", "pipeline")
"""Commands listed first in the help: the stages in their order, and the pipeline that runs them."""
GATES = ("compare", "history", "claim")
"""Commands whose exit status 1 is a verdict of --fail-on: errors end them with 2."""
GC_THRESHOLD = 100_000
"""Objects between passes of the garbage collector: with Python's 700, imports of pandas and scipy
cost up to a fifth more."""


class _Commands(SuggestingGroup):
    """Command group that imports the modules of this package lazily.

    A module `like_this` defines the command `like_this`, called `like-this`; modules with a leading
    underscore define none. Expensive imports are inside the command functions, so that the help
    appears at once. The package's own errors become one line on standard error.
    """

    def invoke(self, ctx: click.Context) -> object:
        gc.set_threshold(GC_THRESHOLD)
        try:
            return super().invoke(ctx)
        except RawperfError as err:
            layout = ctx.find_object(Layout)
            root = layout.root if layout is not None else Path()
            raise _failure(ctx, str(err.relative_to(root))) from err
        except BrokenPipeError:
            raise
        except OSError as err:  # a full disk, a read-only folder, a stage's missing output
            where = f"{err.filename}: " if err.filename else ""
            remedy = _remedy(err)
            raise _failure(ctx, visible(f"{where}{err.strerror or err}{remedy}")) from err

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*STAGES, *(name for name in _modules() if name not in STAGES)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        module = _modules().get(cmd_name)
        if module is None:
            return None
        return getattr(importlib.import_module(f"{__name__}.{module}"), module)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, names in (
            ("Stages", STAGES),
            ("Other commands", [name for name in self.list_commands(ctx) if name not in STAGES]),
        ):
            commands = [
                (name, c) for name in names if (c := self.get_command(ctx, name)) and not c.hidden
            ]
            width = formatter.width - 6 - max(map(len, names), default=0)
            if commands:
                with formatter.section(title):
                    formatter.write_dl(
                        [(name, c.get_short_help_str(width)) for name, c in commands]
                    )


class NoVerdictError(click.ClickException):
    """An error of a command whose exit status 1 is a verdict."""

    exit_code = 2


def _failure(ctx: click.Context, message: str) -> click.ClickException:
    gates = ctx.invoked_subcommand in GATES
    return NoVerdictError(message) if gates else click.ClickException(message)


def _remedy(err: OSError) -> str:
    """Remedy for a file that can't be read or written, as a sentence; "" if none is known."""
    if isinstance(err, FileNotFoundError):
        return ". `virtperf pipeline` runs the stages in order"
    path = Path(os.fsdecode(err.filename)) if err.filename else None
    if isinstance(err, PermissionError) and path is not None and _is_unreadable(path):
        return ". Ask for read permission"
    remedy = write_remedy(err, path.parent if path is not None else "the output's folder")
    return f". {remedy[0].upper()}{remedy[1:]}" if remedy else ""


def _is_unreadable(path: Path) -> bool:
    """Whether a path exists but can't be read; False if its folder can't be searched."""
    try:
        return path.exists() and not os.access(path, os.R_OK)
    except OSError:
        return False


def _modules() -> dict[str, str]:
    """Modules of `virtperf.cli` by command name."""
    names = sorted(m.name for m in pkgutil.iter_modules(__path__))
    return {name.replace("_", "-"): name for name in names if not name.startswith("_")}


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="virtperf")
@click.option(
    "--root",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=Path(),
    help="Repository folder, with data/ and params.yaml; default: the current folder.",
)
@click.pass_context
def main(ctx: click.Context, root: Path) -> None:
    """Analyse virtualization performance studies, from raw files to HTML reports.

    A study has three stages: reconstruct (ranges implied by a paper's text), runs (run folders to
    means and verdicts) and report (notebook and pages). A measured study has only the last two.
    `virtperf pipeline` runs the outdated stages of all studies in parallel; `dvc repro` runs them one
    by one. STUDY is the name of a folder in data/published or data/measured.
    """
    ctx.obj = Layout(root)
