"""Common parts of line and bar figures: caption, numbers, picture."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from rawperf.core.errors import RawperfError, StudyError, require_known
from rawperf.core.model import Flag, Level
from virtperf.core.numbers import NO_BREAK, join_words, number, plural, pretty
from virtperf.core.provenance import Provenance
from virtperf.core.verdicts import Verdict
from virtperf.report import findings, frames
from virtperf.report.axis_words import tick_label, unit_words
from virtperf.report.captions import SPLIT_NOTE, SPLIT_START, caption
from virtperf.report.frames import PROVENANCES, allowed, is_printed_value, merge_pieces
from virtperf.report.kinds import (
    Context,
    ExhibitKind,
    ExhibitSpec,
    Figure,
    attribution,
    note,
    trace,
)
from virtperf.report.orders import (
    OrderChart,
    join_levels,
    order_chart,
    order_claims,
    order_lines,
    order_rows,
)
from virtperf.report.range_words import NARROW, WIDE, is_wide, says_little
from virtperf.report.records import (
    Block,
    Folded,
    Grid,
    Listing,
    Numbers,
    Paragraph,
    Record,
    Span,
)
from virtperf.report.wording import exhibit_name, trace_key
from virtperf.study.claim_kinds.order import OrderClaim
from virtperf.study.claim_kinds.total import SumClaim
from virtperf.study.claims import Claim
from virtperf.study.conditions import OWN_SCALE
from virtperf.study.definition import Exhibit, Factor, Series, Study

MAX_NAMED_CLAIMS = 3  # claims named for a limit in the numbers behind a figure
MOSTLY_OPEN_SHARE = 0.7
"""Share of points that have nothing to draw from which a figure is shown as orders or sentences."""
TINY_SHARE = 0.025
"""Of the largest number of a figure: a series whose points are all at most this is not drawn."""
ORDER, POINTS = "order", "points"
"""Labels of pictures drawn by default: the order of the points, without a scale; their values."""
MAX_UNITS = 6  # units, such as machines, whose own means are drawn beside the mean over them
MAX_SENTENCES = 4  # claims quoted about a figure that shows hardly more than orders
STRICTLY = " > "  # in a line of an order that does not allow equal values alone


class Spec(ExhibitSpec):
    """`quantity` and `over` are defaults for series without their own.

    `log` is a logarithmic y axis, for line figures only; `axis` names the y axis of an only panel;
    `labels` are names of levels on the x axis in place of those of the factor; `order` shows the order
    of the points alone; `from_zero` begins the y axes of bars at 0, where equal bars are a result.
    """

    series: tuple[Series, ...]
    quantity: str = ""
    over: str = ""
    log: Flag = False
    order: Flag = False
    from_zero: Flag = False
    labels: dict[Level, str] = {}
    axis: str = ""


def check(study: Study, exhibit: Exhibit) -> None:
    """Check that the series of a figure share one axis, have distinct labels, and known colours."""
    axes = {series.over for series in exhibit.series}
    if len(axes) > 1:
        raise StudyError(
            f"{exhibit.id}: its series have different factors on the axis",
            file="study.yaml",
            expected="one factor",
            found=", ".join(sorted(axes)),
        )
    check_labels(exhibit)
    if exhibit.spec.get("log") and exhibit.kind != "line":
        raise StudyError(
            f"{exhibit.id}: bars begin at 0, which is not on a logarithmic axis",
            file="study.yaml",
            expected="log with kind: line",
        )
    check_colours(study, exhibit)


def check_labels(exhibit: Exhibit) -> None:
    """Check that the series of a figure have distinct labels."""
    labels = [series.label for series in exhibit.series]
    if twice := [label for label in labels if labels.count(label) > 1]:
        raise StudyError(
            f"{exhibit.id}: two series are named {twice[0]!r}",
            file="study.yaml",
            expected="a unique label for every series",
        )


def check_colours(study: Study, exhibit: Exhibit) -> None:
    """Check that every colour is the label of a series of the study."""
    known = {s["label"] for e in study.exhibits for s in e.spec.get("series", ()) if "label" in s}
    for colour in (s["colour"] for s in exhibit.spec["series"] if s.get("colour")):
        require_known(
            colour,
            known,
            f"{exhibit.id}: no series is named {colour!r}",
            StudyError,
            file="study.yaml",
            expected="the label of the series with the same colour",
        )


def _claim_list(claims: Sequence[str]) -> str:
    """Ids of the claims that set a limit, truncated: the trace page has all."""
    more = len(claims) - MAX_NAMED_CLAIMS
    return ";".join([*claims[:MAX_NAMED_CLAIMS], *([f"and {more} more"] if more > 0 else [])])


def figure_kind(name: str, *, curves: bool) -> ExhibitKind:
    """The kind of line figures, which have fitted `curves`, or of bar figures, which have none.

    Their `record` takes the picture, perhaps a reader's own, and fits by series; it raises
    `StudyError` for fits of bars.
    """

    def record(
        context: Context, exhibit: Exhibit, figure: Figure | None = None, *shown: object
    ) -> Record:
        fits = collect_fits(shown)
        if fits and not curves:
            raise StudyError(
                f"{exhibit.id} is a {name} figure, which has no fitted curves",
                remedy="show the fit's estimates by study.estimates(...).",
            )
        return _record(context, exhibit, figure, fits)

    def draw(context: Context, exhibit: Exhibit, *shown: object) -> Figure | None:
        points = context.points(exhibit)
        drawn = drawn_points(context.study, points)
        if exhibit.spec.get("order") or is_mostly_open(points, drawn):
            several = len(context.study.findings_of(exhibit.id)) > 1
            return None if several else _draw_order(context, exhibit, points)
        seen = seen_points(context.study, drawn) if len(drawn) else points
        figure = _draw_points(context, exhibit, seen, shown)
        figure.set_label(POINTS)
        return figure

    def _draw_points(
        context: Context, exhibit: Exhibit, points: pd.DataFrame, shown: Sequence[object]
    ) -> Figure:
        from virtperf.report import plot

        columns: dict[str, Any] = {"x": exhibit.series[0].over, "hue": "series"}
        if (pooled := context.study.pooled_factor) is not None:
            units = _means_of_units(context, exhibit, pooled.name)
            if 0 < units[pooled.name].nunique() <= MAX_UNITS:
                columns |= {
                    "runs": units,
                    "units": pooled.name,
                    "labels": {pooled.name: pooled.label},
                }
                log = bool(exhibit.spec.get("log"))
                return plot.lines(points, **columns, level=context.level, log=log)
        if not curves:
            zero = bool(exhibit.spec.get("from_zero"))
            alone = points[["measured", "example"]].isna().all(axis=1)
            words: Any = [
                bar_number(*point) if is_alone else None
                for is_alone, *point in zip(
                    alone, points["printed"], points["low"], points["high"], strict=True
                )
            ]
            return plot.bars(
                points.assign(words=words),
                **columns,
                level=context.level,
                from_zero=zero,
                words="words",
            )
        fits, log = collect_fits(shown), bool(exhibit.spec.get("log"))
        return plot.lines(points, **columns, level=context.level, fits=fits, log=log)

    return ExhibitKind(name, record, spec=Spec, draw=draw, check=check)


def drawn_points(study: Study, points: pd.DataFrame) -> pd.DataFrame:
    """Points of a figure as they are drawn: without ranges that say little (`says_little`) and all other
    wide ranges of their series, and without points that then have nothing to draw.
    """
    points = points.copy()
    wide = {(low, high): is_wide(points[low], points[high]) for low, high in _RANGES}
    known = [points[name] for name in _MARKED]
    known += [points[ends[1]].mask(wide[ends]) for ends in _RANGES]
    units = points["quantity"].map({name: kind.unit for name, kind in study.quantities.items()})
    largest = pd.concat(known, axis=1).max(axis=1).groupby(units).transform("max").fillna(0.0)
    for ends, pieces in _RANGES.items():
        little = says_little(points[ends[0]], points[ends[1]], largest)
        hidden = wide[ends] & little.groupby(points["series"]).transform("any")
        points[list(ends)] = points[list(ends)].mask(hidden)
        points[pieces] = [
            () if gone else ends for gone, ends in zip(hidden, points[pieces], strict=True)
        ]
    drawn = [*_MARKED, *(name for ends in _RANGES for name in ends)]
    return points[points[drawn].notna().any(axis=1)]


def bar_number(printed: float, low: float, high: float) -> str | None:
    """Number above a bar: the printed one, else a narrow range, its ends rounded outwards; a number
    without decimals stands for the range if both ends round to it.
    """
    if not math.isnan(printed):
        return _value(printed)
    if not (high >= LEAST_WHOLE and high * (1 - NARROW) <= low * (1 + NARROW)):
        return None
    if round(low) == round(high):
        return pretty(round(low))
    return f"{pretty(math.floor(low))}–{pretty(math.ceil(high))}"


LEAST_WHOLE = 20  # the smallest range of which whole numbers are the ends: with an error of 5 %


def seen_points(study: Study, drawn: pd.DataFrame) -> pd.DataFrame:
    """Points without the series of which a text says only that they are next to nothing (`TINY_SHARE`):
    beside the others they would be a line on the axis.
    """
    units = drawn["quantity"].map({name: kind.unit for name, kind in study.quantities.items()})
    known = drawn[["high", "high_text", *_MARKED]].astype(float)
    highest = known.max(axis=1).fillna(math.inf)
    largest = highest.where(highest < math.inf).groupby(units).transform("max")
    small = drawn[[*_MARKED]].isna().all(axis=1) & (highest <= TINY_SHARE * largest)
    return drawn[~small.groupby(drawn["series"]).transform("all")]


_MARKED = ("printed", "measured", "example")
_RANGES = {("low", "high"): "pieces", ("low_text", "high_text"): "pieces_text"}
"""Columns of the ends of a range, and of its pieces."""


def _means_of_units(context: Context, exhibit: Exhibit, unit: str) -> pd.DataFrame:
    """Mean of the measured runs of each unit at each point of a figure."""
    runs = frames.runs(context.data, exhibit)
    runs = runs[runs["provenance"] == Provenance.MEASURED]
    keys = ["series", "quantity", exhibit.series[0].over, unit, "provenance"]
    means = runs.groupby(keys, sort=False, observed=True)["value"].mean().reset_index()
    means.attrs = dict(runs.attrs)
    return means


def exhibit_record(
    context: Context,
    exhibit: Exhibit,
    figure: Figure | None,
    caption: str,
    numbers: Sequence[Numbers],
    *,
    provenance: Iterable[Provenance],
    blocks: Iterable[Block],
    description: str = "",
) -> Record:
    """Build the record of an exhibit in study.yaml; `description` is the alternative text of the picture,
    by default the caption.
    """
    name = exhibit_name(exhibit.id, exhibit.kind)
    return Record(
        kind=exhibit.kind,
        id=exhibit.id,
        study=context.study.id,
        name=name,
        title=exhibit.title,
        caption=caption,
        provenance=tuple(provenance),
        numbers=tuple(numbers),
        blocks=tuple(blocks),
        claims=context.data.claims_about(exhibit.id),
        **drawing(figure, exhibit.id, f"{name}: {exhibit.title}", description or caption),
    )


def _record(
    context: Context, exhibit: Exhibit, figure: Figure | None, fits: Mapping[str, Any]
) -> Record:
    study, data = context.study, context.data
    points = context.points(exhibit)
    factor = study.axis(exhibit)
    ordered, claims = order_claims(data, exhibit)
    points["ordered"] = [quantity in ordered for _, _, quantity in study.points(exhibit)]
    numbers = [_download(study, exhibit, points, factor)]
    if fits:
        from virtperf.report.plot.curves import evaluate_curves

        levels = {
            str(label): part["x"].tolist() for label, part in points.groupby("series", sort=False)
        }
        fitted = evaluate_curves(fits, levels, factor.name, context.level)
        if curves := [table.assign(series=label) for label, table in fitted.items()]:
            words = "Fitted curves (CSV)"
            numbers.append(
                Numbers.of(pd.concat(curves), f"{study.id}-{exhibit.id}-curves", words=words)
            )
    there = {
        Provenance.PUBLISHED: points["printed"].notna(),
        Provenance.RECONSTRUCTED: points["known"] & ~is_printed_value(points),
        Provenance.MEASURED: points["measured"].notna(),
        Provenance.EXAMPLE: points["example"].notna(),
    }
    missing = {label: fit for label, fit in fits.items() if not getattr(fit, "available", True)}
    words = description = ""
    beside: tuple[Block, ...]
    if figure is None and (said := findings.below_title(data, exhibit, context.level)):
        beside = (Paragraph(words=" ".join(said)),)
    elif figure is None:
        beside = tuple(_text_statements(context, exhibit))
    elif figure.get_label() == ORDER:
        statements = tuple(_text_statements(context, exhibit))
        beside = (
            *_not_drawn(order_chart(data, exhibit)),
            *([Folded(summary="Statements of the text", blocks=statements)] if statements else []),
        )
        description = "; ".join(order_lines(data, exhibit))
    else:
        words = caption(points, factor, [claim.says for claim in claims])
        drawn = figure.get_label() == POINTS
        beside = tuple(_left_out(study, points, factor)) if drawn else ()
    label = f"{exhibit_name(exhibit.id, 'figure')}: numbers"
    return exhibit_record(
        context,
        exhibit,
        figure,
        words,
        numbers,
        description=description,
        provenance=(kind for kind, rows in there.items() if rows.any()),
        blocks=(
            *beside,
            *_unscaled_note(context, exhibit, points),
            *(note(f"No curve for {label}: {fit.reason}") for label, fit in missing.items()),
            *(attribution(study) if there[Provenance.MEASURED].any() else ()),
            trace(study, exhibit),
            Folded(summary="The numbers", blocks=(_table(context, points, factor, label),)),
        ),
    )


def is_mostly_open(points: pd.DataFrame, drawn: pd.DataFrame) -> bool:
    """Whether the text determines hardly more than orders of a figure: most points are not among
    those that are `drawn` (`drawn_points`, `MOSTLY_OPEN_SHARE`).

    Points fixed by convention, or without limits of a stage, don't count; a figure with runs is never
    left open.
    """
    if points[["measured", "example"]].notna().any(axis=None):
        return False
    counted = points.index[~points["reference"] & points["known"]]
    left_out = counted.difference(drawn.index)
    return len(left_out) > 0 and len(left_out) >= MOSTLY_OPEN_SHARE * len(counted)


def _text_statements(context: Context, exhibit: Exhibit) -> Iterator[Block]:
    """Statements of the text on a figure with wide ranges, without those of its title: orders, and the
    sentences of its other claims.
    """
    study, orders = context.study, order_lines(context.data, exhibit)
    names = {quantity.name for _, _, quantity in context.study.points(exhibit)}
    title = findings.title(context.data, exhibit, context.level).replace(NO_BREAK, " ")
    ordering = order_claims(context.data, exhibit)[1]
    told = {name for f in study.findings_of(exhibit.id) if not exhibit.shows for name in f.claims}
    if all(claim.id in told or claim.says.rstrip(".") in title for claim in ordering):
        orders = []
    ordered = {claim.id for claim in ordering} if orders else set()
    about = [
        claim
        for claim in context.data.paper_claims
        if exhibit.id in claim.exhibits
        and claim.id not in ordered | told
        and context.data.result(claim.id).get("text_verdict") != Verdict.CONVENTION
        and _compares_or_prints(study, claim)
        and not _is_bound(claim, names)
        and names & {q.name for q in claim.quantities}
    ]
    about.sort(key=lambda claim: claim.value is None)
    sentences = dict.fromkeys(claim.says for claim in about)
    said = [words for words in sentences if words.rstrip(".") not in title]
    strict = [line for line in orders if STRICTLY in line] or orders
    if strict or said:
        lead = "Statements of the text"
        yield Paragraph(words=f"{lead}, orders with the greatest first:" if strict else f"{lead}:")
        yield Listing(items=(*strict, *said[:MAX_SENTENCES]))
    elif not title:
        yield Paragraph(words="The text says nothing about single values.")
    if equal := [line for line in orders if line not in strict]:
        words = f"Statements that allow equal values ({len(equal)})"
        yield Folded(summary=words, blocks=(Listing(items=tuple(equal)),))


def _compares_or_prints(study: Study, claim: Claim) -> bool:
    """Whether a claim says how plotted values compare, or what one is: a definition (a sum, the base
    of the scale) or a natural bound says nothing about a figure.
    """
    if isinstance(claim, SumClaim):
        return False
    parts = [part for instance in claim.instances for part in instance.parts]
    if all(len(instance.parts) > 1 for instance in claim.instances):
        return True
    based = {quantity for part in parts for _, quantity in part.terms}
    return claim.value is not None and any(
        (study.reference_for(quantity) or (None,))[0] != quantity for quantity in based
    )


def _is_bound(claim: Claim, names: set[str]) -> bool:
    """Whether a claim compares plotted quantities (`names`) with another one that they may be equal to:
    a limit, such as the rate of a link.
    """
    return (
        isinstance(claim, OrderClaim)
        and not claim.is_strict
        and not {q.name for q in claim.quantities} <= names
    )


def _left_out(study: Study, points: pd.DataFrame, factor: Factor) -> Iterator[Block]:
    """Notes on what a figure leaves out (`drawn_points`, `seen_points`), and on points with several ranges."""
    drawn = drawn_points(study, points)
    seen = seen_points(study, drawn) if len(drawn) else drawn
    split = seen[seen["pieces"].map(lambda ends: len(merge_pieces(ends))) > 2]
    printed = is_printed_value(split)
    if len(several := split[~printed]):
        where, rest = _places(several, factor), SPLIT_NOTE.removeprefix(SPLIT_START)
        yield note(f"{SPLIT_START} ({where}){rest}")
    if len(one := split[printed]):
        yield note(
            f"The numbers contradict each other at {_levels(one, factor)}: drawn is the printed one, the "
            "details have the other range."
        )
    small = drawn[~drawn["series"].isin(set(seen["series"]))]
    if len(small):
        units = {name: kind.unit for name, kind in study.quantities.items()}
        each = (
            f"{label} (at most {pretty(of['high'].max(), 2)} {units[of['quantity'].iloc[0]]})"
            for label, of in small.groupby("series", sort=False)
        )
        yield note(f"Too small to be seen beside the others: {join_words(list(each))}.")
    low = drawn["low"].reindex(points.index)
    left = points.loc[points["low"].notna() & low.isna(), ["series", "x"]]
    if len(left) == 0:
        return
    whole = [label for label in left["series"].unique() if label not in set(drawn["series"])]
    some = left[~left["series"].isin(whole)]
    names = [*whole, *filter(None, [_places(some, factor)])]
    words = (
        f"Not drawn, as the text allows values more than a factor of {pretty(WIDE)} apart: "
        f"{'; '.join(names)}."
    )
    # a series that has runs is there
    measured = set(points["series"][points["measured"].notna()])
    yield Paragraph(words=words, style="small") if measured >= set(left["series"]) else note(words)


def _places(points: pd.DataFrame, factor: Factor) -> str:
    """Points by their series and levels."""
    by_series = points.groupby("series", sort=False)["x"].agg(list)
    return "; ".join(f"{label}, {join_levels(xs, factor)}" for label, xs in by_series.items())


def _levels(points: pd.DataFrame, factor: Factor) -> str:
    """Levels of points, each with its series: ``12 guests (z/VM)``."""
    by_series = points.groupby("series", sort=False)["x"].agg(list)
    return "; ".join(f"{join_levels(xs, factor)} ({label})" for label, xs in by_series.items())


def _not_drawn(chart: OrderChart | None) -> Iterator[Block]:
    """A note on what the chart of an order leaves out."""
    parts = []
    if chart is not None and chart.n_points:
        parts.append(f"{plural(chart.n_points, 'point')} whose place the text hardly determines")
    if chart is not None and chart.n_pairs:
        parts.append(
            f"{plural(chart.n_pairs, 'stated pair')} of points that are not beside each other"
        )
    if parts:
        yield note(
            f"Not drawn: {join_words(parts)}; the statements of the text are in the details."
        )


def drawing(figure: Figure | None, anchor: str, title: str, description: str) -> dict[str, Any]:
    """Fields of a record with the picture of a figure; none without a figure."""
    if figure is None:
        return {}
    from virtperf.report import plot

    return {"drawing": plot.svg(figure, anchor, title=title), "description": description}


def collect_fits(shown: Sequence[object]) -> dict[str, Any]:
    """Collect the fits by label from a notebook's arguments; raises `RawperfError` for anything
    else.
    """
    for item in shown:
        fits = list(item.values()) if isinstance(item, Mapping) else [item]
        wrong = [v for v in fits if getattr(v, "available", True) and not hasattr(v, "predict")]
        if wrong or not isinstance(item, Mapping):
            raise RawperfError(
                "a figure is shown with fits by series",
                expected="a mapping of label to fit, as virtperf.models gives",
                found=type((wrong or fits)[0]).__name__,
                remedy="show estimates by study.estimates(...).",
            )
    return {
        str(label): fit
        for item in shown
        if isinstance(item, Mapping)
        for label, fit in item.items()
    }


def _draw_order(context: Context, exhibit: Exhibit, points: pd.DataFrame) -> Figure | None:
    """Draw the order of the points, where claims state one; its label is `ORDER`."""
    from virtperf.report import plot

    one = points["quantity"].nunique() == 1
    label = context.study.quantities[exhibit.series[0].quantity].label if one else ""
    if one and (chart := order_chart(context.data, exhibit)) is not None:
        figure = plot.order(points, chart.panels, x=exhibit.series[0].over, ylabel=label)
    elif rows := order_rows(context.data, exhibit):
        figure = plot.rows(rows, ylabel=label)
    else:
        return None
    figure.set_label(ORDER)
    return figure


def _unscaled_note(context: Context, exhibit: Exhibit, points: pd.DataFrame) -> list[Block]:
    """A note naming the missing reference point if measured runs can't be put on the figure's
    scale.
    """
    quantities = [quantity for _, _, quantity in context.study.points(exhibit)]
    run = [q for q in quantities if context.data.mean(q, Provenance.MEASURED, OWN_SCALE)]
    if not run or points["measured"].notna().any():
        return []
    reference = context.study.reference_for(run[0])
    place = f": {context.study.show(reference[0])}" if reference else ""
    words = "Measured runs are not shown: they can't be put on the paper's scale, because its reference point was"
    return [note(f"{words} not run{place}.")]


def _download(study: Study, exhibit: Exhibit, points: pd.DataFrame, factor: Factor) -> Numbers:
    """The points of a figure for the CSV download, with lists as text."""
    shown = [quantity for _, _, quantity in study.points(exhibit)]
    alike = {q.name: [other for other in shown if other.name == q.name] for q in shown}
    units = {name: unit_words(study, name, same) for name, same in alike.items()}
    columns: dict[str, Iterable[Any]] = {
        **{name: points[name] for name in ("exhibit", "series")},
        factor.name: points["x"],
        "quantity": points["quantity"],
        "unit": points["quantity"].map(units),
    }
    for name, suffix in (("allowed", ""), ("text_alone", "_text")):
        columns |= {f"{name}_{end}": points[f"{end}{suffix}"] for end in ("low", "high")}
        columns[name] = points[f"pieces{suffix}"].map(_pieces)
    columns |= {f"{end}_set_by": points[f"{end}_by"].map(_claim_list) for end in ("low", "high")}
    for kind in PROVENANCES:
        columns |= {name: points[name] for name in (kind, f"{kind}_low", f"{kind}_high")}
        columns[f"{kind}_runs"] = points[f"{kind}_runs"].map(";".join)
    return Numbers.of(columns | {"printed": points["printed"]}, f"{study.id}-{exhibit.id}")


def _pieces(pieces: Sequence[float]) -> str:
    """Machine-readable disjoint intervals: ``60 61; 90 inf``."""
    return "; ".join(
        f"{number(low, 6)} {number(high, 6)}"
        for low, high in zip(pieces[::2], pieces[1::2], strict=True)
    )


def _table(context: Context, points: pd.DataFrame, factor: Factor, label: str) -> Grid:
    """Table of the points without empty columns; the last value of each links to its trace."""
    # a point that the text of a study with published data does not mention has no limits
    absent = "not computed" if context.data.points.empty else "no statement"
    ranges = {
        name: [allowed(pieces, absent) for pieces in points[name]]
        for name in ("pieces_text", "pieces")
    }
    cells: dict[str, Iterable[Any]] = {
        "Series": points["series"],
        factor.label[:1].upper() + factor.label[1:]: [tick_label(factor, x) for x in points["x"]],
        "The text alone allows": ranges["pieces_text"],
        "With our assumptions": ranges["pieces"] if context.assumptions else [],
        "Printed": points["printed"].map(_value),
        **{
            kind.capitalize(): list(
                map(_value, points[kind], points[f"{kind}_low"], points[f"{kind}_high"])
            )
            for kind in PROVENANCES
        },
    }
    columns = {name: list(column) for name, column in cells.items()}
    columns_shown = {name: column for name, column in columns.items() if set(column) - {"", absent}}
    if columns_shown.get("With our assumptions") == columns_shown.get(
        "The text alone allows"
    ):  # they change nothing here
        columns_shown.pop("With our assumptions", None)
    numeric = [
        k
        for k, name in enumerate(columns_shown)
        if k == 1 or name in ("Printed", *map(str.capitalize, PROVENANCES))
    ]
    keys = zip(*(points[name] for name in ("exhibit", "series", "x")), strict=True)
    rows = []
    for row, key in zip(zip(*columns_shown.values(), strict=True), keys, strict=True):
        last = max(k for k, cell in enumerate(row) if cell)
        value = Span(text=row[last], link=f"trace:{trace_key(context.study.id, *key)}")
        rows.append((*row[:last], (value,), *row[last + 1 :]))
    return Grid(label=label, columns=tuple(columns_shown), rows=tuple(rows), numeric=tuple(numeric))


def _value(value: float, low: float = math.nan, high: float = math.nan) -> str:
    shown = "" if math.isnan(value) else pretty(value)
    return f"{shown} ({pretty(low)} to {pretty(high)})" if math.isfinite(low) else shown
