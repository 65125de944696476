"""What the command line prints of runs."""

import itertools
import re

import rai_sim as rai
from rai_sim.cli import tables as cli_tables
from rai_sim.problem import table_problem


def test_widths_are_enough_for_what_is_found() -> None:
    """Rows of the paper's tasks, easy and hard, are as wide as their header."""
    algorithms = [rai.Vanilla(), rai.Butterscotch()]
    for task, delta in itertools.product((1, 3), (0.5, 1e-6)):
        table = cli_tables.RunTable(table_problem(task), [delta], algorithms, None)
        lines = [
            line
            for one in algorithms
            for line in table.lines(
                rai.simulate(table_problem(task), one, delta=delta, replications=3, seed=0)
            ).splitlines()
        ]
        assert len(set(map(len, lines[2:]))) == 1


def test_several_deltas_in_a_narrow_terminal() -> None:
    """The algorithm becomes a heading, once for all of its error probabilities."""
    problem, rule = table_problem(1), rai.Butterscotch()
    table = cli_tables.RunTable(problem, [0.1, 0.01], [rule], 50)
    runs = [rai.simulate(problem, rule, delta=delta, replications=3) for delta in (0.1, 0.01)]
    lines = "\n".join(map(table.lines, runs)).splitlines()
    assert lines[0].endswith("delta 0.1, 0.01")
    assert lines[2].split()[0] == "delta"
    assert lines[4] == "Butterscotch(merging=True)"
    assert [line.split()[:2] for line in lines[5:]] == [["0.1", "7,420"], ["0.01", "10,370"]]
    assert max(map(len, lines[2:])) <= 50


def test_errors_at_the_cap_are_shown_where_one_is_set() -> None:
    """With their interval, before the seconds; the table is as wide as its header."""
    problem, rule = table_problem(1), rai.Butterscotch()
    run = rai.simulate(problem, rule, replications=30, max_pulls=3000, seed=0)
    lines = cli_tables.RunTable(problem, [0.01], [rule], None, capped=True).lines(run).splitlines()
    assert re.split(" {2,}", lines[2])[-3:] == ["errors at cap", "95 % interval", "seconds"]
    assert re.split(" {2,}", lines[4])[-3:-1] == ["60 %", "40.6 to 77.3 %"]
    assert len(set(map(len, lines[2:]))) == 1
    assert "at cap" not in cli_tables.RunTable(problem, [0.01], [rule], None).lines(run)
