"""The benchmark report: verdicts, tables, the choice of rows, the files' copies. Nothing slow is
measured."""

import math
import os
import platform
import re
import socket
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from script_modules import load

ROOT = Path(__file__).parents[2]
FRONT = "# Title\n<!-- speed:begin -->\nold\n<!-- speed:end -->\nafter"
README = """# Title

<!-- benchmarks:begin -->
old table
<!-- benchmarks:end -->
between
<!-- scaling:begin --><!-- scaling:end -->
after"""


@pytest.fixture(scope="module")
def script() -> ModuleType:
    """Return the script as a module."""
    return load("bench_report")


def a_row(script: ModuleType, ratio: float, **changes: Any) -> Any:
    """Return a row that must reach 10 and aims at 20."""
    arguments = {
        "number": "1",
        "what": "ours over theirs",
        "ratio": ratio,
        "must": 10.0,
        "aim": 20.0,
        "higher_is_better": True,
        "times": "1 ms against 2 ms",
    }
    return script.Row(**(arguments | changes))


@pytest.fixture
def measured(script: ModuleType, monkeypatch: pytest.MonkeyPatch) -> dict[str, float]:
    """Replace the rows by ones whose ratios this dictionary tells, and scaling's points by fixed
    ones."""
    ratios = {"1": 25.0, "4": 12.0, "9": 10.0}

    def maker(number: str) -> Callable[[Any], Any]:
        return lambda effort: a_row(script, ratios[number], number=number)

    points = [script.Point(1e-1, 9.5e3, 7.2e-6), script.Point(1e-6, 3e14, 3e-4)]
    monkeypatch.setattr(script.rows, "ROWS", {number: maker(number) for number in ratios})
    monkeypatch.setattr(script.rows, "scaling", lambda effort: (points, 6e7))
    return ratios


@pytest.fixture
def readme(script: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Let the script write to files of its own; the one with the whole tables."""
    path, front = tmp_path / "benchmarks" / "README.md", tmp_path / "README.md"
    path.parent.mkdir()
    path.write_text(README, encoding="utf-8")
    front.write_text(FRONT, encoding="utf-8")
    monkeypatch.setattr(script, "TABLES", path)
    monkeypatch.setattr(script, "README", front)
    return path


# --------------------------------------------------------------------------------------------------
# Rows
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ratio", "verdict"),
    [(21, "aim"), (20, "aim"), (19.9, "must"), (10, "must"), (9.9, "below must")],
)
def test_verdict_where_high_is_good(script: ModuleType, ratio: float, verdict: str) -> None:
    """Levels are reached when they are met."""
    assert a_row(script, ratio).verdict == verdict


@pytest.mark.parametrize(
    ("ratio", "verdict"),
    [(4, "aim"), (5, "aim"), (5.1, "must"), (10, "must"), (10.1, "below must")],
)
def test_verdict_where_low_is_good(script: ModuleType, ratio: float, verdict: str) -> None:
    """The same the other way round."""
    assert a_row(script, ratio, aim=5.0, higher_is_better=False).verdict == verdict


def test_verdict_without_an_aim_or_a_ratio(script: ModuleType) -> None:
    """No aim: must is the best there is. No ratio: neither reached nor missed."""
    assert a_row(script, 1e9, aim=None).verdict == "must"
    assert a_row(script, 9.0, aim=None).verdict == "below must"
    assert a_row(script, math.nan).verdict == "not measured"


def test_a_row_without_a_must_is_only_shown(script: ModuleType) -> None:
    """Whatever the ratio, there is nothing to reach; an aim alone would be a slip."""
    assert a_row(script, 1e-9, must=None, aim=None).verdict == "shown"
    assert a_row(script, math.nan, must=None, aim=None).verdict == "not measured"
    with pytest.raises(ValueError, match=r"row 1: aim is 20\.0 but must is missing"):
        a_row(script, 1.0, must=None)


@pytest.mark.parametrize("changes", [{"aim": 9.0}, {"aim": 11.0, "higher_is_better": False}])
def test_an_aim_easier_than_the_must_is_refused(
    script: ModuleType, changes: dict[str, Any]
) -> None:
    """A slip in the table would turn verdicts round."""
    with pytest.raises(ValueError, match=r"row 1: aim is (9|11)\.0 but must is 10\.0"):
        a_row(script, 1.0, **changes)


def test_the_levels_of_the_rows(script: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers, levels and directions as specified, seen without measuring: all measurements give
    NaN."""
    rows = script.rows

    def refuse(*_: Any, **__: Any) -> None:
        raise rows.NotMeasurableError("not now")

    for name in (
        "package",
        "interleaved",
        "interleaved_processes",
        "in_fresh_process",
        "two_arms",
        "bare_kernel",
        "table",
    ):
        monkeypatch.setattr(rows, name, refuse)
    found = [measure(rows.QUICK) for measure in rows.ROWS.values()]
    levels = {row.number: (row.must, row.aim, row.higher_is_better, row.unit) for row in found}
    assert levels == {
        "1": (25, 60, True, ""),
        "1t": (None, None, True, ""),
        "2": (8, 20, True, ""),
        "2t": (None, None, True, ""),
        "3": (100, 300, True, ""),
        "3t": (None, None, True, ""),
        "4": (25, 12, False, ""),
        "5": (80, 200, True, ""),
        "5t": (None, None, True, ""),
        "6": (3, 8, True, ""),
        "7": (50, 1000, True, ""),
        "8": (1.7, 1.95, True, ""),
        "9": (1.2, 1.05, False, ""),
        "10": (2.5, 1.5, False, ""),
        "11": (1.3, 1.1, False, ""),
        "12": (150, 80, False, "MB"),
        "13": (15, 30, True, ""),
        "13c": (6, 12, True, ""),
        "13m": (200, 60, False, "B"),
        "14": (1000, 10_000, True, ""),
        "15": (2, 1.2, False, ""),
        "16": (20, 10, False, ""),
        "17": (60, 15, False, ""),
        "gaussian": (3, None, False, ""),
        "categorical": (3, None, False, ""),
        "study": (1.2, None, False, ""),
        "dask": (1.6, None, True, ""),
        "arms": (3, None, False, ""),
        "gaussian arms": (3, None, False, ""),
    }
    assert list(levels) == list(rows.ROWS)
    assert {row.verdict for row in found} == {"not measured"}
    assert "not now" in {row.times for row in found}


def test_kernels_are_timed_within_a_study(script: ModuleType) -> None:
    """Their calls are where they are looked for: some of the time of the whole, not all of it."""
    rai = script.rows.rai
    grid = rai.Study.grid(
        [rai.table_problem(task=1)], [rai.Vanilla()], [0.1, 0.01], replications=100
    )
    seconds, within = script.rows.study_and_kernels(grid)
    assert 0.0 < within < seconds


def test_sides_take_turns_after_a_warm_up(script: ModuleType) -> None:
    """A B for the warm-up, then a block of A, a block of B, and again."""
    order: list[str] = []
    sides = [lambda: order.append("A"), lambda: order.append("B")]
    seconds = script.rows.interleaved(
        sides, script.Effort(repeats=3, block_seconds=1e-4, processes=0)
    )
    assert re.fullmatch(r"AB(A+B+){3}", "".join(order))
    assert all(0.0 < taken < 1e-3 for taken in seconds)


def test_fresh_processes_are_timed_one_by_one(
    script: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is a block: once for the warm-up, then as often as said, taking turns."""
    made: list[str] = []
    monkeypatch.setattr(script.rows, "in_fresh_process", made.append)
    effort = script.Effort(repeats=1, block_seconds=9.0, processes=2)
    assert len(script.rows.interleaved_processes(["A", "B"], effort)) == 2
    assert made == ["A", "B"] * 3


def test_a_cold_start_has_an_empty_cache(
    script: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first process of a folder finds it empty, the others find what it left."""
    found: list[int] = []

    def run(code: str, variables: dict[str, str]) -> None:
        folder = Path(variables["NUMBA_CACHE_DIR"])
        found.append(len(list(folder.iterdir())))
        (folder / f"kernel {len(found)}").touch()

    monkeypatch.setattr(script.rows, "in_fresh_process", run)
    monkeypatch.setattr(script.rows, "usable_cores", lambda: 2)
    row = script.rows.cold_start(script.Effort(repeats=1, block_seconds=9.0, processes=6))
    assert found == [0, 1, 2, 3] * 2
    assert row.ratio > 0.0
    monkeypatch.setattr(script.rows, "usable_cores", lambda: 1)
    assert script.rows.cold_start(script.Effort(1, 9.0, 6)).verdict == "not measured"


def test_a_processes_failure_is_told(script: ModuleType) -> None:
    """A fresh process gives what it prints; if it fails, the error says what it complained
    about."""
    assert script.rows.in_fresh_process("print(6 * 7)") == "42\n"
    with pytest.raises(RuntimeError, match=r"exit code 3: out of luck"):
        script.rows.in_fresh_process(
            "import sys; print('out of luck', file=sys.stderr); sys.exit(3)"
        )


def test_the_problems_of_two_arms(script: ModuleType) -> None:
    """All three laws have the means they should, and the categorical one ten levels."""
    for law in ("bernoulli", "gaussian", "categorical"):
        problem = script.rows.two_arms(1e-3, law)
        np.testing.assert_allclose(problem.arms.means, [0.5005, 0.4995], rtol=1e-12)
        assert (problem.clusters, problem.required) == ((1, 1), (1, 0))
    assert problem.arms.probabilities.shape == (2, 10)


# --------------------------------------------------------------------------------------------------
# Words
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (3e-9, "3 ns"),
        (7.234e-6, "7.23 us"),
        (1.5e-3, "1.5 ms"),
        (0.75, "750 ms"),
        (90, "90 s"),
        (300, "5 min"),
        (4 * 3600, "4 h"),
        (30 * 86_400, "30 days"),
        (3 * 31_557_600, "3 years"),
    ],
)
def test_durations(script: ModuleType, seconds: float, text: str) -> None:
    """Three digits and a unit."""
    assert script.seconds_text(seconds) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.9512, "1.95"),
        (0.0123, "0.0123"),
        (99.94, "99.9"),
        (99.96, "100"),
        (9512.3, "9,512"),
        (999_999.7, "1.00e6"),
        (1.94e10, "1.94e10"),
        (math.nan, "nan"),
    ],
)
def test_numbers(script: ModuleType, value: float, text: str) -> None:
    """Digits that one can read."""
    assert script.number_text(value) == text


def test_the_rows_table(script: ModuleType) -> None:
    """Aligned Markdown; levels show their direction, amounts their unit."""
    text = script.rows_table(
        [
            a_row(script, 25.04),
            a_row(
                script,
                79.0,
                number="12",
                must=150.0,
                aim=80.0,
                higher_is_better=False,
                unit="MB",
                times="90 MB",
            ),
            a_row(script, math.nan, number="8", aim=None, times="one core only"),
            a_row(script, 3.14159, number="1t", must=None, aim=None),
        ]
    )
    lines = text.splitlines()
    assert len({len(line) for line in lines}) == 1
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert cells[0] == ["#", "what", "measured", "must", "aim", "verdict", "times"]
    assert re.fullmatch(r"[|-]+", lines[1])
    assert cells[2] == ["1", "ours over theirs", "25", ">= 10", ">= 20", "aim", "1 ms against 2 ms"]
    assert cells[3] == ["12", "ours over theirs", "79 MB", "<= 150 MB", "<= 80 MB", "aim", "90 MB"]
    assert cells[4] == ["8", "ours over theirs", "-", ">= 10", "-", "not measured", "one core only"]
    assert cells[5] == ["1t", "ours over theirs", "3.14", "", "", "shown", "1 ms against 2 ms"]


def test_the_scaling_table(script: ModuleType) -> None:
    """Time against pulls, and the extrapolation labelled as one."""
    text = script.scaling_table(
        [script.Point(1e-1, 9500.0, 1e-5), script.Point(1e-6, 3e14, 3e-4)], 6e7
    )
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()]
    assert cells[0][-1] == "pull by pull, extrapolated from 6.00e7 pulls/s"
    assert cells[2] == ["1e-1", "9,500", "10 us", "9.50e8", "158 us"]
    assert cells[3] == ["1e-6", "3.00e14", "300 us", "1.00e18", "57.9 days"]


def test_the_machine_line_names_no_machine(
    script: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Processor, cores and versions, and nothing else: neither host nor folder."""
    for function in (platform.node, socket.gethostname):
        monkeypatch.setattr(
            sys.modules[function.__module__], function.__name__, lambda: "name-of-the-host"
        )
    line = script.machine()
    python, numpy = re.escape(platform.python_version()), re.escape(np.__version__)
    assert re.fullmatch(rf".+, \d+ cores?; Python {python}, numba [\w.+]+, numpy {numpy}", line)
    assert "name-of-the-host" not in line
    assert str(ROOT) not in line


# --------------------------------------------------------------------------------------------------
# The files
# --------------------------------------------------------------------------------------------------


def test_only_what_stands_between_the_markers_changes(script: ModuleType, readme: Path) -> None:
    """The new text stands on lines of its own; a second time changes nothing more."""
    script.rewrite(readme, {"benchmarks": "| a |\n", "scaling": "| b |"})
    text = readme.read_text(encoding="utf-8")
    assert text == README.replace("old table", "| a |").replace(
        "begin --><!-- scaling", "begin -->\n| b |\n<!-- scaling"
    )
    script.rewrite(readme, {"benchmarks": "| a |\n", "scaling": "| b |"})
    assert readme.read_text(encoding="utf-8") == text


def test_line_ends_mode_and_links_stay(script: ModuleType, readme: Path) -> None:
    """What surrounds the markers is kept byte for byte, the file's mode too, and a link stays a
    link."""
    readme.write_bytes(README.replace("\n", "\r\n").encode())
    readme.chmod(0o640)
    link = readme.with_name("link.md")
    link.symlink_to(readme)
    script.rewrite(link, {"benchmarks": "new"})
    assert link.is_symlink()
    assert readme.read_bytes().startswith(b"# Title\r\n\r\n<!-- benchmarks:begin -->\nnew\n")
    assert readme.read_bytes().endswith(
        b"between\r\n<!-- scaling:begin --><!-- scaling:end -->\r\nafter"
    )
    assert stat.S_IMODE(readme.stat().st_mode) == 0o640


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("<!-- scaling:begin -->", "", r"marker <!-- scaling:begin --> is there 0 times"),
        ("<!-- scaling:end -->", "", r"marker <!-- scaling:end --> is there 0 times"),
        ("after", "<!-- scaling:end -->", r"marker <!-- scaling:end --> is there 2 times"),
        (
            "<!-- scaling:begin --><!-- scaling:end -->",
            "<!-- scaling:end --><!-- scaling:begin -->",
            r"marker <!-- scaling:end --> stands before",
        ),
    ],
)
def test_without_its_markers_the_readme_is_left_alone(
    script: ModuleType, readme: Path, old: str, new: str, message: str
) -> None:
    """Missing, doubled or exchanged markers: an error, the file unchanged, nothing left beside
    it."""
    readme.write_text(README.replace(old, new), encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        script.rewrite(readme, {"benchmarks": "new", "scaling": "new"})
    assert readme.read_text(encoding="utf-8") == README.replace(old, new)
    assert list(readme.parent.iterdir()) == [readme]


def test_a_failed_write_leaves_the_old_file(
    script: ModuleType, readme: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The new file takes the old one's place only when it is whole; until then it has another
    name."""

    def fail(descriptor: int) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="disk full"):
        script.rewrite(readme, {"benchmarks": "new"})
    assert readme.read_text(encoding="utf-8") == README
    assert list(readme.parent.iterdir()) == [readme]


# --------------------------------------------------------------------------------------------------
# The command
# --------------------------------------------------------------------------------------------------


def test_rows_are_chosen_by_name(script: ModuleType, measured: dict[str, float]) -> None:
    """All, or those of a list, in the table's order and once each."""
    assert script.chosen(None) == ["1", "4", "9", "scaling"]
    assert script.chosen("9, 1,9") == ["1", "9"]
    assert script.chosen("scaling") == ["scaling"]


@pytest.mark.parametrize(
    ("text", "word"), [("1,13", "13"), ("", "nothing"), (" , ", "nothing"), ("one", "one")]
)
def test_unknown_rows_are_refused(
    script: ModuleType,
    measured: dict[str, float],
    capsys: pytest.CaptureFixture[str],
    text: str,
    word: str,
) -> None:
    """Exit code 2 and the names to choose among."""
    with pytest.raises(SystemExit) as stop:
        script.main(["--rows", text])
    assert stop.value.code == 2
    assert f"which holds {word}; choose among 1, 4, 9, scaling" in capsys.readouterr().err


def test_a_report(
    script: ModuleType, measured: dict[str, float], readme: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The chosen rows, the machine and how it was measured; the files stay as they are."""
    assert script.main(["--rows", "4,1"]) == 0
    text = capsys.readouterr().out
    assert [line.split()[1] for line in text.splitlines() if re.match(r"\| \d", line)] == ["1", "4"]
    assert f"{script.machine()}. Each ratio in one run" in text
    assert "extrapolated" not in text
    assert readme.read_text(encoding="utf-8") == README


def test_a_row_below_its_must_fails_the_report(
    script: ModuleType,
    measured: dict[str, float],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Exit code 1 and the rows' names; one that was not measured, or is only shown, fails
    nothing."""
    measured["4"], measured["9"] = 9.9, math.nan
    shown = a_row(script, 0.1, number="1t", must=None, aim=None)
    monkeypatch.setitem(script.rows.ROWS, "1t", lambda effort: shown)
    assert script.main([]) == 1
    assert "below must: 4\n" in capsys.readouterr().err
    assert script.main(["--rows", "1,1t,9"]) == 0


def test_the_readme_is_written_when_asked(
    script: ModuleType, measured: dict[str, float], readme: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Both tables stand between their markers, as they were printed, also if a row is below its
    must; the front page has its rows of them."""
    measured["1"] = 1.0
    assert script.main(["--quick", "--write"]) == 1
    text, printed = readme.read_text(encoding="utf-8"), capsys.readouterr().out
    table = text.partition("<!-- benchmarks:begin -->\n")[2].partition("\n<!-- benchmarks:end -->")[
        0
    ]
    scaling = text.partition("<!-- scaling:begin -->\n")[2].partition("\n<!-- scaling:end -->")[0]
    assert f"{table}\n\n{scaling}\n" == printed
    assert "old table" not in text
    assert "| below must |" in table
    assert "57.9 days" in scaling
    front = (readme.parents[1] / "README.md").read_text(encoding="utf-8")
    assert front.startswith("# Title\n<!-- speed:begin -->\n| simulation ")
    assert re.findall(
        r"^\| Vanilla, all of the top three of ten arms \| (.*?) +\| 1 ms", front, re.M
    )
    assert front.count("\n| Vanilla") == 1
    assert f"\n\n{script.machine()}.\n<!-- speed:end -->\nafter" in front


def test_the_front_page_has_what_the_whole_table_has(script: ModuleType) -> None:
    """The same numbers in each of its rows, all of which are there."""
    whole = script.TABLES.read_text(encoding="utf-8").partition("<!-- benchmarks:begin -->")[2]
    rows = {
        cells[0]: (cells[2], cells[6])
        for cells in map(cells_of, whole.partition("<!-- benchmarks:end -->")[0].splitlines())
        if len(cells) == 7
    }
    front = script.README.read_text(encoding="utf-8").partition("<!-- speed:begin -->")[2]
    table = [cells_of(line) for line in front.partition("<!-- speed:end -->")[0].splitlines()]
    shown = {cells[0]: (cells[1], cells[2]) for cells in table if len(cells) == 3}
    for number, words in script.FOR_USERS.items():
        assert shown[words] == rows[number]
    assert set(script.rows.ROWS) >= set(script.FOR_USERS)


def cells_of(line: str) -> list[str]:
    """Return the cells of a line of a table."""
    return [cell.strip() for cell in line.strip("|").split("|")] if "|" in line else []


def test_missing_markers_end_the_report_before_it_measures(
    script: ModuleType,
    readme: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Exit code 2 at once, not after minutes; the same without a file."""

    def measure(effort: Any) -> None:
        raise AssertionError("measured")

    monkeypatch.setattr(script.rows, "ROWS", {"1": measure})
    readme.write_text("no markers", encoding="utf-8")
    with pytest.raises(SystemExit) as stop:
        script.main(["--write"])
    assert stop.value.code == 2
    assert "the marker <!-- benchmarks:begin --> is there 0 times" in capsys.readouterr().err
    readme.unlink()
    with pytest.raises(SystemExit) as stop:
        script.main(["--write"])
    assert stop.value.code == 2


def test_part_of_the_table_is_not_written(
    script: ModuleType, measured: dict[str, float], readme: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The files would lose the other rows."""
    with pytest.raises(SystemExit) as stop:
        script.main(["--rows", "1", "--write"])
    assert stop.value.code == 2
    assert "leave --rows out" in capsys.readouterr().err
    assert readme.read_text(encoding="utf-8") == README


# --------------------------------------------------------------------------------------------------
# What strides buy
# --------------------------------------------------------------------------------------------------


def test_strides_table(script: ModuleType) -> None:
    """A line a case: time with all, and times as long without each."""
    found = [
        script.strides.Gain("two arms", 1.5e-5, [5.04, 1.0]),
        script.strides.Gain("ten", 2.5e-3, [0.99, 12.3]),
    ]
    assert script.strides_table(found, ["in step", "lanes"]).splitlines() == [
        "| case     | all    | without in step | without lanes |",
        "|----------|--------|-----------------|---------------|",
        "| two arms | 15 us  | 5.04            | 1             |",
        "| ten      | 2.5 ms | 0.99            | 12.3          |",
    ]


def test_strides_are_reported_for_both_algorithms(
    script: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ten cases of LUCB and nine of Vanilla, each with all columns, and no row of the
    benchmarks."""
    seen = []

    def gain(case: Any, columns: Any, effort: Any) -> Any:
        seen.append((case.name, str(case.algorithm)))
        return script.strides.Gain(case.name, 1e-3, [2.0] * len(columns))

    monkeypatch.setattr(script.strides, "gain", gain)
    monkeypatch.setattr(script.rows, "ROWS", {})
    assert script.main(["--strides", "--quick"]) == 0
    told = capsys.readouterr().out
    assert [sum(name in algorithm for _, algorithm in seen) for name in ("LUCB", "Vanilla")] == [
        10,
        9,
    ]
    assert all(
        f"without {name}" in told for name in (*script.strides.LUCBS, *script.strides.VANILLAS)
    )
    assert all(f"| {name} " in told for name, _ in seen)


@pytest.mark.parametrize("other", [["--write"], ["--rows", "1"]])
def test_strides_are_reported_alone(
    script: ModuleType, other: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """The files have no place for them."""
    with pytest.raises(SystemExit, match="2"):
        script.main(["--strides", *other])
    assert (
        "--strides: it prints tables of its own; leave --rows and --write out"
        in capsys.readouterr().err
    )


def test_a_gain_is_measured(script: ModuleType) -> None:
    """Round robin without words, on three arms: a number a column, above zero."""
    case = script.strides.Case(
        "three",
        lambda: script.strides.rai.best_arm(script.strides.rai.Bernoulli([0.9, 0.5, 0.1])),
        5,
    )
    case = case._replace(algorithm=script.strides.rai.Vanilla())
    found = script.strides.gain(
        case, list(script.strides.VANILLAS.values()), script.rows.Effort(1, 0.0, 1)
    )
    assert found.case == "three"
    assert found.seconds > 0.0
    assert len(found.without) == 3
    assert min(found.without) > 0.0


# --------------------------------------------------------------------------------------------------
# Time and memory against arms
# --------------------------------------------------------------------------------------------------


def a_cell(script: ModuleType, name: str, N: int, **changes: Any) -> Any:
    """Return what a replication takes."""
    arguments = {
        "pulls": 2.5e3 * N,
        "rounds": 3e3,
        "seconds": 1e-3 * N,
        "round_seconds": 2.5e-6,
        "megabytes": 12.34,
        "finished": True,
        "rival_seconds": 0.25,
    }
    return script.sizes.Cell(algorithm=name, n_arms=N, **(arguments | changes))


def test_sizes_table(script: ModuleType) -> None:
    """Caps are told, and baselines that do not end in time left out."""
    cells = [
        a_cell(script, "Vanilla", 1_000),
        a_cell(script, "LUCB", 10, finished=False, rival_seconds=None),
    ]
    assert script.sizes_table(cells).splitlines() == [
        "| algorithm | arms  | pulls          | time  | a round | memory  | pull by pull |",
        "|-----------|-------|----------------|-------|---------|---------|--------------|",
        "| Vanilla   | 1,000 | 2.50e6         | 1 s   | 2.5 us  | 12.3 MB | 250 ms       |",
        "| LUCB      | 10    | 25,000, capped | 10 ms | 2.5 us  | 12.3 MB | -            |",
    ]


def test_sizes_are_written_between_their_markers(
    script: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    readme: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Nothing else is measured or changed; without the markers, nothing is measured."""
    measured_cells = [a_cell(script, name, 10) for name in script.sizes.ALGORITHMS]
    monkeypatch.setattr(script.sizes, "measure", lambda: iter(measured_cells))
    monkeypatch.setattr(script.rows, "ROWS", {})
    with pytest.raises(SystemExit, match="2"):
        script.main(["--sizes", "--write"])
    assert "<!-- sizes:begin --> is there 0 times" in capsys.readouterr().err
    readme.write_text(
        f"{README}\n<!-- sizes:begin -->\nold\n<!-- sizes:end -->\n", encoding="utf-8"
    )
    assert script.main(["--sizes", "--write"]) == 0
    written = readme.read_text(encoding="utf-8")
    assert written.startswith(README)
    assert "old\n<!-- sizes" not in written
    for name in script.sizes.ALGORITHMS:
        assert f"\n| {name} " in written
    assert written.strip().endswith("<!-- sizes:end -->")


@pytest.mark.parametrize("other", [["--strides"], ["--rows", "1"]])
def test_sizes_are_reported_alone(
    script: ModuleType, other: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Each has tables of its own."""
    with pytest.raises(SystemExit, match="2"):
        script.main(["--sizes", *other])
    assert "leave --rows and --strides out" in capsys.readouterr().err


@pytest.mark.slow
def test_a_size_is_measured(script: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """Vanilla on ten arms in processes of their own, its baseline too, which is compiled there."""
    sizes = script.sizes
    monkeypatch.setattr(sizes, "ALGORITHMS", {"Vanilla": sizes.ALGORITHMS["Vanilla"]})
    (cell,) = sizes.measure((10,))
    assert (cell.algorithm, cell.n_arms, cell.finished) == ("Vanilla", 10, True)
    assert cell.pulls > cell.rounds > 10
    assert cell.seconds > 0.0
    assert cell.megabytes > 0.0
    assert cell.rival_seconds > 0.0


def test_patience_with_baselines_ends(script: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that takes too long is given up, and larger ones are not tried."""
    sizes = script.sizes
    monkeypatch.setattr(sizes, "ALGORITHMS", {"Vanilla": sizes.ALGORITHMS["Vanilla"]})
    asked = []

    def answered(what: str, name: str, N: int, patience: float | None) -> list[float]:
        asked.append((what, N))
        if what == "print_rival" and N == 100:
            raise sizes.subprocess.TimeoutExpired("python", patience)
        return [1.0] * (1 if what == "print_rival" else 6)

    monkeypatch.setattr(sizes, "_measured", answered)
    assert [cell.rival_seconds for cell in sizes.measure((10, 100, 1_000))] == [1.0, None, None]
    assert asked[-1] == ("print_ours", 1_000)
