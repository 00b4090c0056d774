"""The metric dictionary with what declarations add to it."""

from __future__ import annotations

from collections.abc import Iterable

from rawperf import all_formats
from rawperf.core.declaration import FieldRule, TableDeclaration
from rawperf.core.errors import RawperfError, Report, stop
from rawperf.core.metrics import Metric, MetricDictionary, Source
from rawperf.core.near import did_you_mean
from rawperf.core.units import conversion_factor, rate_unit
from rawperf.declared.read import DeclaredFormat


def with_presets(dictionary: MetricDictionary, report: Report = lambda _: None) -> MetricDictionary:
    """A dictionary that knows the fields of the installed declarations too.

    What it does not fit, such as a metric that a dictionary of somebody's own lacks, is told to
    `report` and left out.
    """
    return extended(
        dictionary, (f for f in all_formats().values() if isinstance(f, DeclaredFormat)), report
    )


def extended(
    dictionary: MetricDictionary,
    formats: Iterable[DeclaredFormat],
    report: Report = stop,
    *,
    preferred: bool = False,
) -> MetricDictionary:
    """A dictionary that knows the fields of declared formats too.

    Parameters
    ----------
    report : callable, optional
        Told of every problem, so that all can be listed.
    preferred : bool
        Whether their fields come before others that a metric is read from.

    Raises `StudyError`: a metric that is not in the dictionary, or is there already; a unit that
    can't be converted; with the place in the declaration.
    """
    formats = tuple(formats)
    metrics: dict[str, Metric] = dict(dictionary.metrics)
    for form in formats:
        for name, metric in form.declaration.metrics.items():
            if name in metrics:
                report(form.error(f"there is a metric {name!r} already", "metrics", name))
            metrics.setdefault(name, metric)
    added: dict[str, list[Source]] = {}
    for form in formats:
        for where, part in form.tables():
            for place, rule in enumerate(part.fields):
                at = (*where, "fields", place)
                if rule.metric is not None and rule.metric not in metrics:
                    problem, remedy = (
                        f"there is no metric {rule.metric!r}",
                        did_you_mean(rule.metric, metrics),
                    )
                    report(form.error(problem, *at, "metric", remedy=remedy))
                elif rule.metric is not None:
                    try:
                        source = _source(form.name, part, rule, metrics[rule.metric])
                    except RawperfError as err:
                        report(form.error(str(err), *at, "unit"))
                    else:
                        added.setdefault(rule.metric, []).append(source)
    for name, new in added.items():
        old = metrics[name].sources
        sources = (*new, *old) if preferred else (*old, *new)
        metrics[name] = metrics[name].model_copy(update={"sources": sources})
    return MetricDictionary(metrics.values())


def _source(format_name: str, part: TableDeclaration, rule: FieldRule, metric: Metric) -> Source:
    kind, unit = rule.kind or metric.kind, str(rule.unit)
    factor = conversion_factor(rate_unit(unit) if kind == "counter" else unit, metric.unit)
    return Source.model_validate(
        {
            "format": format_name,
            "<format>": format_name,
            "report": part.report,
            "field": rule.record,
            "entity_kind": part.entity.kind,
            "unit": unit,
            "kind": kind,
            "<factor>": factor * rule.factor,
        }
    )
