"""Statistics are columns of one list: their names stay, every table picks from it."""

import re
from typing import Any

import pytest

import rai_sim as rai
from rai_sim.cli import tables as cli_tables
from rai_sim.cli.study import summary_text
from rai_sim.report import page
from rai_sim.simulation.columns import COLUMNS, frame_columns
from rai_sim.study import StudyResults, tables
from rai_sim.support.wording import number


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> StudyResults:
    """Two tasks of seven replications."""
    grid = rai.Study.grid(
        [rai.table_problem()], [rai.Vanilla(), rai.Butterscotch()], [0.1], replications=7
    )
    return grid.run(tmp_path_factory.mktemp("columns") / "store")


def test_names_and_order_of_a_frames_columns_stay(study: StudyResults) -> None:
    """They are public: scripts read them."""
    assert study.summary().columns == [
        "instance",
        "algorithm",
        "delta",
        "pulls_mean",
        "pulls_mean_low_95",
        "pulls_mean_high_95",
        "errors",
        "error_rate",
        "error_rate_low_95",
        "error_rate_high_95",
        "error_exceeds_delta",
        "error_verdict",
        "replications",
        "finished",
        "complete",
        "precision_reached",
        "relative_half_width_95",
        "pulls_standard_error",
        "pulls_standard_deviation",
        "pulls_q05",
        "pulls_q25",
        "pulls_q50",
        "pulls_q75",
        "pulls_q95",
        "pulls_most",
        "rounds_mean",
        "lower_bound_pulls",
        "tight_bound_pulls",
        "upper_bound_pulls",
        "upper_bound_theorem",
        "n_arms",
        "bottleneck_gap_reward",
        "law",
        "clusters",
        "required",
        "parameters",
        "seed",
        "skip_error",
        "max_pulls",
        "errors_at_cap",
        "error_rate_at_cap",
        "error_rate_at_cap_low_95",
        "error_rate_at_cap_high_95",
        "task",
    ]


def test_every_number_of_a_frame_says_its_unit() -> None:
    """Names, flags and lists of counts aside, a column is of pulls, rounds, shares or the like."""
    silent = {column.key for column in frame_columns() if not column.unit}
    assert silent == {
        "instance",
        "algorithm",
        "error_exceeds_delta",
        "error_verdict",
        "complete",
        "precision_reached",
        "upper_bound_theorem",
        "law",
        "parameters",
        "seed",
        "task",
    }
    pulls = {column.key for column in frame_columns() if column.unit == "pulls"}
    assert all("pulls" in key for key in pulls)


def test_bounds_are_sorted_by_their_pulls() -> None:
    """Not by the theorem they are of, or by their text; where there is none, last."""
    column = COLUMNS["upper_bound"]
    assert [column.sort(bound) for bound in (("Theorem 2", 1e5), ("Theorem 1", 9e4))] == [1e5, 9e4]
    assert column.sort((None, None)) == ""


@pytest.mark.parametrize("key", ["pulls_interval", "error_interval", "error_interval_at_cap"])
def test_an_interval_that_is_not_known(key: str) -> None:
    """Is n/a once, and sorted last."""
    row = dict.fromkeys(column.key for column in frame_columns())
    cell = COLUMNS[key].shown("interval").cell(row | {"error_verdict": "open"})
    assert (cell.text, cell.key) == ("n/a", "")


#: Where each table of statistics is made, and the list it was picked into.
SHOWN = [(tables, "SHOWN"), (page, "_PULLS"), (page, "_ERRORS"), (cli_tables, "_RUN_COLUMNS")]


@pytest.mark.parametrize(("module", "name"), SHOWN)
def test_tables_pick_from_the_list(module: Any, name: str) -> None:
    """Each column of each table is one of the list, perhaps in other words; but for the verdict."""
    for column in getattr(module, name):
        if column.key != "verdict":
            assert (
                column.shown(COLUMNS[column.key].title, COLUMNS[column.key].form)
                == COLUMNS[column.key]
            )


def test_a_picked_column_is_shown_everywhere(
    study: StudyResults, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a notebook, on the command line and in a report, in its format, wherever it stands."""
    wider = (
        COLUMNS["pulls_q95"].shown("95 % quantile"),
        *tables.SHOWN,
        *COLUMNS.pick("rounds_mean"),
    )
    monkeypatch.setattr(tables, "SHOWN", wider)
    monkeypatch.setattr(page, "_PULLS", wider)
    frame = study.summary()
    wanted = [number(value) for value in frame["pulls_q95"]]
    for shown in (study._repr_html_(), page._pulls_table(frame)):
        rows = [
            re.findall(r"<td[^>]*>([^<]*)</td>", row)
            for row in re.findall(r"<tr>(.*?)</tr>", shown)[1:]
        ]
        assert [row[0] for row in rows] == wanted
        assert [row[-1] for row in rows] == [number(value) for value in frame["rounds_mean"]]
    lines = summary_text(study).splitlines()
    assert re.split(" {2,}", lines[0].strip())[:: len(wider) - 1] == [
        "95 % quantile",
        "rounds_mean",
    ]
    assert [re.split(" {2,}", line.strip())[0] for line in lines[2:4]] == wanted


def test_instances_are_shown_as_the_problem_has_them(study: StudyResults) -> None:
    """What the list says of a problem is said of an instance, beside what is run on it."""
    (row,) = tables.instance_rows(study.tasks)
    shown = {column.key: column.cell(row) for column in tables.INSTANCE_COLUMNS}
    assert {key: cell.text for key, cell in shown.items()} == {
        "instance": study.tasks[0].instance,
        "law": "Bernoulli",
        "n_arms": "10",
        "clusters": "3, 5, 2",
        "required": "1, 0, 0",
        "bottleneck_gap_reward": "0.25",
        "means": "0.85, 0.8, 0.65, 0.6, 0.4, 0.36, 0.35, 0.3, ...",
        "algorithms": "Vanilla(merging=True), Butterscotch(merging=True)",
        "deltas": "0.1",
        "tasks": "2",
    }
    assert shown["n_arms"].key == 10
