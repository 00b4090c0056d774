"""`virtperf trace`: provenance of a plotted value, down to raw lines."""

from __future__ import annotations

import click

from rawperf.core.errors import RawperfError, did_you_mean
from virtperf.core.paths import Layout


@click.command()
@click.argument("key")
@click.option("--json", "as_json", is_flag=True, help="Print the trace as JSON.")
@click.pass_obj
def trace(layout: Layout, key: str, as_json: bool) -> None:
    """Show the provenance of a plotted value.

    KEY is STUDY/FIGURE/SERIES/X, for example study/figure-5/xen/12. Prints the formula, the runs with
    their raw files, lines and window, the excluded runs with the reasons, and the claims of the paper
    that set the lower and upper bound. A prefix of a key (STUDY/FIGURE, or STUDY) lists the keys that
    begin with it. The key of a printed table is STUDY/TABLE, for example study/table-4; it prints the
    file with its cells, line by line.
    """
    from dataclasses import asdict

    from rawperf.core.files import json_text
    from virtperf.core.params import load_parameters
    from virtperf.report.frames import load
    from virtperf.report.trace import table_text, table_traces, trace_text, traces

    study = key.partition("/")[0]
    layout.known(study)
    parameters = load_parameters(layout.parameters)
    data = load(study, layout.root / "data")
    data.require_stages()
    entries = {
        entry.key: entry for entry in traces(data, assumptions=parameters.report.assumptions)
    }
    tables = {table.key: table for table in table_traces(data)}
    quotations = {c.id: c.says for c in data.claims or ()}
    if key in entries or key in tables:
        selected = entries.get(key) or tables[key]
        if as_json:
            click.echo(json_text(asdict(selected)))
        elif key in tables:
            click.echo(table_text(tables[key], quotations))
        else:
            click.echo(trace_text(entries[key], quotations, paper=data.study.kind == "paper"))
        return
    keys = [*entries, *tables]
    matching = [name for name in keys if name.startswith(key.rstrip("/") + "/")]
    if not matching:
        prefixes = ["/".join(name.split("/")[:parts]) for parts in (2, 3) for name in keys]
        remedy = f"{did_you_mean(key, [*prefixes, *keys])} `virtperf trace {study}` lists all keys"
        raise RawperfError(f"no value has the key {key!r}", remedy=remedy)
    click.echo(json_text(matching) if as_json else "\n".join(matching))
