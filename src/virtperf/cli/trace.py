"""`virtperf trace`: provenance of a plotted value, down to raw lines."""

from __future__ import annotations

import click

from rawperf.core.errors import RawperfError, did_you_mean
from virtperf.core.paths import Layout


@click.command()
@click.argument("key")
@click.option("--json", "as_json", is_flag=True, help="Print the trace as JSON.")
@click.option("--show", is_flag=True, help="Print the raw lines too.")
@click.pass_obj
def trace(layout: Layout, key: str, as_json: bool, show: bool) -> None:
    """Show the provenance of a plotted value.

    KEY is STUDY/FIGURE/SERIES/X, for example study/figure-5/xen/12. Prints the formula, the runs with
    their raw files, lines and window, the excluded runs with the reasons, and the claims of the paper
    that set the lower and upper bound. --show adds the raw lines: of every file the first and the last
    line behind the value, and the heading of the first. A prefix of a key (STUDY/FIGURE, or STUDY) lists
    the keys that begin with it; with --show, it prints their traces. The key of a printed table is
    STUDY/TABLE, for example study/table-4; it prints the file with its cells, line by line.
    """
    from dataclasses import asdict

    from rawperf.core.files import json_text
    from virtperf.core.params import load_parameters
    from virtperf.report.frames import load
    from virtperf.report.trace import (
        TableTrace,
        Trace,
        lines_behind,
        raw_lines,
        table_text,
        table_traces,
        trace_text,
        traces,
    )

    study = key.partition("/")[0]
    layout.known(study)
    parameters = load_parameters(layout.parameters)
    data = load(study, layout.root / "data")
    data.require_stages()
    values = traces(data, assumptions=parameters.report.assumptions)
    known: dict[str, Trace | TableTrace] = {entry.key: entry for entry in values}
    known |= {table.key: table for table in table_traces(data)}
    prefix = key.rstrip("/") + "/"
    matching = [key] if key in known else [name for name in known if name.startswith(prefix)]
    if not matching:
        prefixes = ["/".join(name.split("/")[:parts]) for parts in (2, 3) for name in known]
        remedy = f"{did_you_mean(key, [*prefixes, *known])} `virtperf trace {study}` lists all keys"
        raise RawperfError(f"no value has the key {key!r}", remedy=remedy)
    if key not in known and not show:
        click.echo(json_text(matching) if as_json else "\n".join(matching))
        return
    lines_of = raw_lines(data) if show else None
    if as_json:
        parts = []
        for found in (known[name] for name in matching):
            parts.append(found.to_dict() if isinstance(found, Trace) else asdict(found))
            if lines_of is not None and isinstance(found, Trace):
                parts[-1]["raw_lines"] = lines_behind(found, lines_of)
        click.echo(json_text(parts[0] if key in known else parts))
        return
    quotations = {c.id: c.says for c in data.claims or ()}
    paper = data.study.kind == "paper"
    for found in (known[name] for name in matching):
        if isinstance(found, TableTrace):
            click.echo(table_text(found, quotations))
        else:
            click.echo(trace_text(found, quotations, paper=paper, lines_of=lines_of))
