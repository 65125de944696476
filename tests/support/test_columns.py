"""Columns of tables are picked by key, and tables that show statistics pick from one list."""

import re
from typing import Any

import pytest

import rai_sim as rai
from rai_sim.cli import tables as cli_tables
from rai_sim.cli.study import summary_text
from rai_sim.report import page
from rai_sim.simulation.columns import COLUMNS, frame_columns
from rai_sim.study import StudyResults, tables
from rai_sim.support.columns import Catalogue, Cell, Column, cells, first_key, titles
from rai_sim.support.wording import number
from rai_sim.tracing.events import Event, event_columns

ARMS = Column(key="arms", title="number of arms", unit="arms", form="{:,}".format)
LAW = Column(key="law", title="law")
RATE = Column(
    key="rate", title="errors", form="{:.0%}".format, warns=lambda row: row["rate"] > row["delta"]
)


def test_columns_come_in_the_order_in_which_they_are_picked() -> None:
    """Whatever the order in which they are listed, and as often as they are named."""
    known = Catalogue([ARMS, LAW, RATE])
    assert known.pick("rate", "arms") == (RATE, ARMS)
    assert titles(known.pick("law", "arms", "law")) == ["law", "number of arms", "law"]
    assert list(known) == [ARMS, LAW, RATE]
    assert known["law"] is LAW
    assert known.pick() == ()


@pytest.mark.parametrize("keys", [("arm",), ("law", "Arms"), ("number of arms",), ("",)])
def test_an_unknown_key_is_an_error(keys: tuple[str, ...]) -> None:
    """It names the key and those there are: a title is no key."""
    with pytest.raises(
        ValueError, match=f"^there is no column '{keys[-1]}'; choose among arms, law$"
    ):
        Catalogue([ARMS, LAW]).pick(*keys)


def test_two_columns_of_one_key_are_an_error() -> None:
    """Else one of them could never be picked."""
    with pytest.raises(ValueError, match=r"^two columns have the key 'law'; give each its own$"):
        Catalogue([ARMS, LAW, LAW.shown("another title")])


def test_cells_show_sort_and_warn() -> None:
    """Numbers sort by themselves, texts by their text, missing values last; rows decide on
    warnings."""
    row = {"arms": 12_345, "law": "Bernoulli", "rate": 0.25, "delta": 0.1}
    assert cells((ARMS, LAW, RATE), row) == [
        Cell("12,345", 12_345),
        Cell("Bernoulli"),
        Cell("25%", 0.25, True),
    ]
    assert RATE.cell(row | {"delta": 0.5}).warn is False
    assert LAW.cell({"law": None}).key == ""


def test_columns_may_be_had_from_rows_in_other_ways() -> None:
    """A function of the row, and what a tuple is sorted by."""
    both = Column(
        key="ends",
        title="ends",
        get=lambda row: (row["low"], row["high"]),
        sort=first_key,
        form=lambda ends: "{} to {}".format(*ends),
    )
    assert both.cell({"low": 1, "high": 2}) == Cell("1 to 2", 1)
    assert both.cell({"low": None, "high": None}).key == ""


def test_a_column_may_be_shown_in_other_words() -> None:
    """Title and format are another table's; key, value and warnings stay."""
    again = RATE.shown("error rate", "{:.3f}".format)
    assert (again.title, again.cell({"rate": 0.25, "delta": 0.1})) == (
        "error rate",
        Cell("0.250", 0.25, True),
    )
    assert RATE.shown("error rate").form is RATE.form
    assert RATE.title == "errors"


def test_what_a_narrow_terminal_goes_without_is_named_by_key() -> None:
    """Places follow from keys, also of tables with other columns; an unknown key is an error."""
    assert cli_tables.places(tables.SHOWN, tables.LEAST) == [10, 9, 8, 5, 3]
    assert cli_tables.places(COLUMNS.pick("finished", "replications"), ("replications",)) == [1]
    with pytest.raises(
        ValueError, match=r"^there is no column 'errors' in this table; choose among"
    ):
        cli_tables.places(tables.SHOWN, ("errors",))


# The list of statistics --------------------------------------------------------------------------


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
        "task",
    ]


def test_every_number_of_a_frame_says_its_unit() -> None:
    """Names, flags and lists of counts aside, a column is of pulls, rounds, shares or the like."""
    silent = {column.key for column in frame_columns() if not column.unit}
    assert silent == {
        "instance",
        "algorithm",
        "error_exceeds_delta",
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


def test_events_are_shown_with_what_is_known_of_them() -> None:
    """A merge has no arm, so no mean; names stand for arms."""
    problem = rai.best_arm(rai.Bernoulli([0.9, 0.5]).with_names(["Stalker", "Solaris"]))
    keys = ("round", "pulls", "event", "mean", "radius", "arm_pulls")
    columns = event_columns(problem).pick(*keys)
    settled = Event("settled", 1_000, 2_000, 1, 1, 0, 0.91234, 0.05, 1_000, True)
    assert [cell.text for cell in cells(columns, settled)] == [
        "1,000",
        "2,000",
        "Stalker settled in cluster 1, representative",
        "0.9123",
        "0.0500",
        "1,000",
    ]
    merged = Event("merged", 1_000, 2_000, 1, 2)
    assert [cell.text for cell in cells(columns, merged)] == [
        "1,000",
        "2,000",
        "clusters 1+2 merged",
        "",
        "",
        "",
    ]
