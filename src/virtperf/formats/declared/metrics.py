"""The metric dictionary with what declarations add to it."""

from __future__ import annotations

from collections.abc import Iterable

from virtperf.core.errors import VirtperfError
from virtperf.core.metrics import Metric, MetricDictionary, Source
from virtperf.core.near import near
from virtperf.core.units import conversion_factor, rate_unit
from virtperf.formats.declared.read import DeclaredFormat


def extended(
    dictionary: MetricDictionary, formats: Iterable[DeclaredFormat], *, preferred: bool = False
) -> MetricDictionary:
    """A dictionary that knows the fields of declared formats too.

    Parameters
    ----------
    dictionary : MetricDictionary
    formats : iterable of DeclaredFormat
    preferred : bool
        Whether their fields come before others that a metric is read from.

    Raises
    ------
    StudyError
        A metric that is not in the dictionary, or is there already; a unit that can't be converted; with the place in
        the declaration.
    """
    metrics: dict[str, Metric] = dict(dictionary.metrics)
    added: dict[str, list[Source]] = {}
    for form in formats:
        for name, metric in form.declaration.metrics.items():
            if name in metrics and metrics[name] != metric:
                raise form.error(f"there is a metric {name!r} already", "metrics", name)
            metrics[name] = metric
    for form in formats:
        for where, part in form.tables():
            for place, rule in enumerate(part.fields):
                if rule.metric is None:
                    continue
                if rule.metric not in metrics:
                    problem = f"there is no metric {rule.metric!r}"
                    raise form.error(problem, *where, "fields", place, "metric", remedy=near(rule.metric, metrics))
                metric, unit = metrics[rule.metric], str(rule.unit)
                kind = rule.kind or metric.kind
                try:
                    factor = conversion_factor(rate_unit(unit) if kind == "counter" else unit, metric.unit)
                except VirtperfError as err:
                    raise form.error(str(err), *where, "fields", place, "unit") from err
                source = Source.model_validate({
                    "format": form.name, "<format>": form.name, "report": part.report, "field": rule.record,
                    "entity_kind": part.entity.kind, "unit": unit, "kind": kind, "<factor>": factor * rule.factor,
                })  # fmt: skip
                added.setdefault(rule.metric, []).append(source)
    for name, new in added.items():
        old = metrics[name].sources
        sources = (*new, *old) if preferred else (*old, *new)
        metrics[name] = metrics[name].model_copy(update={"sources": sources})
    return MetricDictionary(metrics.values())
