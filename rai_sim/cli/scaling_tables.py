"""What the verb `scaling` prints: tables of exponents and of efficiency, and the same as a document."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rai_sim.cli.fitted import fitted_table
from rai_sim.support.columns import Column
from rai_sim.support.wording import ends, json_safe, number, percent

if TYPE_CHECKING:
    import polars as pl

    from rai_sim.study import StudyResults


def _exponent(value: float | None) -> str:
    return "n/a" if value is None else f"{value:.3f}"


def _ratio(value: float | None) -> str:
    return "n/a" if value is None else f"{value:.4g}"


def _ends(low: str, high: str, form: Callable[[Any], str]) -> Callable[[Any], str]:
    def text(row: Any) -> str:
        return ends(form(row[low]), form(row[high]))

    return text


_FITS = (
    Column(key="algorithm", title="algorithm"),
    Column(key="variable", title="pulls ~"),
    Column(key="exponent", title="to the power", form=_exponent),
    Column(
        key="exponent_interval",
        title="95 % interval",
        get=_ends("exponent_low_95", "exponent_high_95", _exponent),
    ),
    Column(key="lack_of_fit", title="lack of fit", form=percent),
    Column(key="at_the_end", title="at the end", form=_exponent),
    Column(
        key="end_interval", title="95 % interval", get=_ends("end_low_95", "end_high_95", _exponent)
    ),
    Column(key="points", title="points", form=str),
)
_EFFICIENCY = (
    Column(key="algorithm", title="algorithm"),
    Column(key="at", title="at", form="{:g}".format),
    Column(key="pulls_mean", title="mean pulls", form=number),
    Column(key="over_bound", title="over bound", form=_ratio),
    Column(
        key="over_interval",
        title="95 % interval",
        get=_ends("over_bound_low_95", "over_bound_high_95", _ratio),
    ),
    Column(key="lower_bound_pulls", title="lower bound", form=number),
    Column(key="practical_pulls_gk16_unproven", title="GK16", form=number),
    Column(key="practical_pulls_pairs", title="pairs", form=number),
    Column(key="practical_pulls_paper", title="paper", form=number),
    Column(key="theorem_1_pulls", title="Theorem 1", form=number),
    Column(key="over_complexity", title="over sum of gap^-2", form=_ratio),
)
_LEAST = (
    "theorem_1_pulls",
    "practical_pulls_gk16_unproven",
    "over_complexity",
    "practical_pulls_paper",
    "practical_pulls_pairs",
    "over_interval",
)
_LEGEND = (
    "lack of fit: by what share means are off the power law, beyond their errors; at the end: the "
    "power between the last two points",
    "lower bound: tight, at this delta; GK16 (unproven), pairs, paper: what an oracle pays under "
    "that stopping threshold; Theorem 1: asymptotic",
)


def scaling_text(results: StudyResults, axis: str) -> str:
    """Return the tables of exponents and of efficiency, with what a reader must know below them."""
    from rai_sim.scaling import efficiency
    from rai_sim.study import tables

    frame, remedy = efficiency(results, axis), "a pipe or --json has all"
    names = list(dict.fromkeys(frame["instance"]))
    fits = fitted_table(_FITS, _fits(results, axis).iter_rows(named=True), 2, (), remedy)
    rows = fitted_table(_EFFICIENCY, frame.iter_rows(named=True), 1, _LEAST, remedy)
    said = [
        f"WARNING: {sentence}"
        for sentence in tables.warnings_of(results, tables.distinct(results.summary()))
    ]
    return "\n".join([*names, "", *fits, "", *rows, "", *_LEGEND, *said, tables.how_far(results)])


def _fits(results: StudyResults, axis: str) -> pl.DataFrame:
    """Return the exponents, with that of the last two points."""
    import polars as pl

    from rai_sim.scaling import fit, local_exponents

    line = ["instance", "algorithm"]
    last = (
        local_exponents(results, axis)
        .group_by(line, maintain_order=True)
        .last()
        .select(
            *line,
            pl.col("exponent").alias("at_the_end"),
            pl.col("exponent_low_95").alias("end_low_95"),
            pl.col("exponent_high_95").alias("end_high_95"),
        )
    )
    return fit(results, axis).join(last, on=line, how="left", maintain_order="left")


def scaling_document(results: StudyResults, axis: str, **more: Any) -> dict[str, Any]:
    """Return what `scaling --json` prints; without fits where nothing can be fitted yet."""
    from rai_sim.scaling import efficiency, fit, local_exponents

    done, wanted = results.progress()
    head = {"folder": str(results.folder), "against": axis, "replications": done, "wanted": wanted}
    try:
        exponents = {
            "fits": json_safe(fit(results, axis).to_dicts()),
            "local_exponents": json_safe(local_exponents(results, axis).to_dicts()),
        }
    except ValueError:  # interrupted before two points were there
        exponents = {"fits": [], "local_exponents": []}
    return head | more | exponents | {"efficiency": json_safe(efficiency(results, axis).to_dicts())}
