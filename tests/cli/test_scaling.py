"""The command `scaling`."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from command_line import ROOT, Capture, document, printed, refused, run

import rai_sim as rai
from rai_sim.scaling import efficiency, fit, local_exponents

BOTH = "--algorithm vanilla --algorithm butterscotch --replications 20"
SHORT = f"--points 0.1,1e-3,1e-100 {BOTH}"


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Results lie in the current folder unless said otherwise."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.landing
def test_exponents_and_ratios_are_printed(capsys: Capture) -> None:
    """Two tables, a line each for every algorithm, and every point; the numbers are those of the
    folder, where a second run finds them."""
    text = printed(capsys, f"scaling delta {SHORT} --seed 3")
    results = rai.open_study("scaling-delta.study")
    lines = text.splitlines()
    assert lines[0] == "10 Bernoulli arms, clusters 3,5,2, required 3,0,0"
    exponents = fit(results)["exponent"].to_list()
    ends = local_exponents(results)["exponent"].to_list()[1::2]
    for line, name, exponent, end in zip(
        lines[4:6], ("Vanilla", "Butterscotch"), exponents, ends, strict=True
    ):
        assert line.startswith(f"{name}(merging=True)")
        cells = re.split(" {2,}", line)
        assert cells[1:3] == ["ln(1/delta)", f"{exponent:.3f}"]
        assert cells[5] == f"{end:.3f}"
    table = lines[lines.index("", 5) + 1 :]
    frame = efficiency(results)
    for line, row in zip(table[2:8], frame.iter_rows(named=True), strict=True):
        assert line.startswith(row["algorithm"])
        assert f"  {row['at']:g}  " in line
        assert f"  {row['over_bound']:.4g}  " in line
        assert f"  {row['lower_bound_pulls']:,.0f}  " in line
    assert "lower bound: tight, at this delta; GK16 (unproven)" in text
    assert lines[-1] == "120 of 120 replications of 6 tasks are in scaling-delta.study"
    assert printed(capsys, f"scaling delta {SHORT} --seed 3") == text
    assert results.runs()[0]["study"]["seeds"] == [3]
    assert [run["replications_added"] for run in rai.open_study(results.folder).runs()] == [120, 0]


def test_json_has_everything(capsys: Capture) -> None:
    """Fits, exponents between neighbours, ratios, and the command that goes on."""
    found = document(capsys, f"scaling gap --points 0.2,0.1,0.05 {BOTH} --delta 0.1")
    assert {row["algorithm"] for row in found["fits"]} == {
        "Vanilla(merging=True)",
        "Butterscotch(merging=True)",
    }
    assert len(found["local_exponents"]) == 4
    assert [row["delta"] for row in found["efficiency"]] == [0.1] * 6
    assert (found["against"], found["replications"], found["wanted"]) == ("gap", 120, 120)
    assert (found["interrupted"], found["failures"]) == (False, {})
    words = found["rerun"].removeprefix("rai-sim ")
    again = document(capsys, words)
    assert again["fits"] == found["fits"]
    assert again["rerun"] == found["rerun"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("gap --table-task 1 --points 0.2,0.1", rai.table_problem(task=1).required),
        ("delta --means 0.9,0.5 --clusters 1,1 --required 0,1 --points 0.2,0.1", (0, 1)),
        ("delta --law gaussian --means 0.9,0.5 --clusters 1,1 --required 1,0", (1, 0)),
        ("n --points 5,10 --family evenly_spaced --law gaussian --sd 0.25", (1, 0)),
        ("n --points 5,10 --family linear_gaps --delta 0.2", (1, 0)),
        ("k --points 2,3 --means 0.9,0.7,0.5,0.3", (2, 0)),
        ("m --points 1,2 --k 3 --means 0.9,0.7,0.5,0.3", (1, 0)),
        pytest.param(
            "m --points 1,2 -k 3 --law poisson --means 9,7,5,3 --no-strict",
            (1, 0),
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "k --points 1,2 --law poisson --means 9,7,5 --no-strict",
            (1, 0),
            marks=pytest.mark.slow,
        ),
        ("n --points 5,10 --law gaussian --sd 2 --sigma 2", (1, 0)),
        pytest.param("n --points 5,10 --law poisson --no-strict", (1, 0), marks=pytest.mark.slow),
        ("delta --means 0.9,0.7,0.5 --problem top -k 2 --points 0.2,0.1", (2, 0)),
    ],
)
def test_other_instances(capsys: Capture, words: str, expected: tuple[int, ...]) -> None:
    """Problems, arms and families of one's own."""
    found = document(
        capsys, f"scaling {words} --algorithm butterscotch --replications 10 --store mine"
    )
    axis = words.split()[0]
    tasks = rai.open_study("mine").tasks
    assert found["folder"] == "mine"
    assert tasks[0].experiment.problem.required == expected
    assert len(found["fits"]) == 1
    assert found["against"] == axis
    if "gaussian" in words:
        assert isinstance(tasks[0].experiment.problem.arms, rai.Gaussian)
    if "--sd 0.25" in words:
        assert tasks[0].experiment.problem == rai.best_arm(
            rai.Gaussian(rai.instances.evenly_spaced(5), sd=0.25)
        )


@pytest.mark.slow
def test_figures_are_written_when_asked(capsys: Capture) -> None:
    """Each with a line that says what it shows; `plot` takes the folder, too."""
    text = printed(capsys, f"scaling delta {SHORT} -o figures --format svg")
    names = [
        "pulls-against-delta",
        "normalised-pulls",
        "exponents-against-delta",
        "efficiency",
        "law",
        "allocation",
    ]
    assert sorted(path.name for path in Path("figures").iterdir()) == sorted(
        f"{name}.svg" for name in names
    )
    said = [line for line in text.splitlines() if line.startswith("figures")]
    assert [Path(line.split("  ")[0]).stem for line in said] == names
    assert "pulls-against-delta" in printed(capsys, "plot scaling-delta.study -o others")


def test_a_precision_instead(capsys: Capture) -> None:
    """Replications until each mean is known well enough."""
    found = document(
        capsys, "scaling gap --points 0.4,0.2 --algorithm butterscotch --precision 0.1 --store s"
    )
    assert [row["replications"] for row in found["efficiency"]] == [256, 256]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("delta --points 0.1", "--points 0.1 is one; a slope needs at least two"),
        ("delta --points 0.1,0.1", "--points: deltas holds 0.1 twice; leave one out"),
        ("delta --points 0.1,x", "--points "),
        ("delta --points 0.1,0.2;0.3,0.4", "--points 0.1,0.2;0.3,0.4 is a table of shape (2, 2);"),
        ("gap --points 0.1,-1", "--points: gaps holds -1.0; every gap must be positive"),
        ("n --points 10,0", "--points: numbers is 0; it must be at least 2"),
        ("k --points 1,20", "--points: ks is 20; it must be an integer from 1 to 19, N - 1"),
        ("m --points 1,11", "--points: ms is 11; it must be an integer from 1 to 10, k"),
        ("m --k 20", "--k: k is 20; it must be an integer from 1 to 19, N - 1"),
        ("arms", "Invalid value for 'AXIS': 'arms' is not one of "),
        ("", "Missing argument 'AXIS'"),
        ("delta --delta 0.1", "--delta 0.1 has no meaning for `scaling delta`; leave it out"),
        (
            "delta --points 0.1,1e-300",
            "--points: delta is 1e-300; below 1e-200 the confidence radii",
        ),
        (
            "delta --delta 0.1",
            "--delta 0.1 has no meaning for `scaling delta`; leave it out, or give "
            "values of delta as --points\n",
        ),
        ("k --k 3", "--k 3 has no meaning for `scaling k`; leave it out, or give values of k as"),
        ("k --clusters 1,1", "--clusters 1,1 has no meaning for `scaling k`; leave it out\n"),
        (
            "k --means 0.9,0.5",
            "`scaling k` has one point on 2 arms, and a slope needs at least two",
        ),
        ("m -k 1", "`scaling m` has one point on 20 arms, and a slope needs at least two"),
        ("k --means 0.5,0.5,0.4", "--means: clusters=(1, 2) are undefined: arms 0 and 1 tie"),
        ("gap --k 3", "--k 3 has no meaning for `scaling gap`"),
        ("n --means 0.9,0.5", "--means 0.9,0.5 has no meaning for `scaling n`; leave it out, or"),
        ("n --family even", "--family even is no family of means; did you mean evenly_spaced?"),
        (
            "n --law categorical",
            "--law categorical is not given by means alone; for `scaling n` ch",
        ),
        ("k --clusters 1,1", "--clusters 1,1 has no meaning for `scaling k`"),
        ("n --sd 0.5", "--sd 0.5 does not belong to --law bernoulli"),
        ("k --law poisson", "--means is missing; --law poisson needs it"),
        ("delta --replications 9", "--replications 9 leaves nothing to fit; give at least 10"),
        ("delta --replications 20 --precision 0.1", "--precision 0.1 and --replications 20 are"),
        ("delta --precision 2", "--precision: precision is 2.0; it is a share of the mean"),
        ("delta --algorithm vanila", "--algorithm "),
        ("delta --format gif", "--format gif is no kind of figure; choose png, svg, pdf"),
        ("delta --store a --plot a", "--plot a lies among the study's results in a; give another"),
        ("delta --plot no/where", "--plot no/where: there is no folder no; make it first"),
        ("gap --algorithm lucb --algorithm lucb", "--algorithm LUCB(as_printed=False) is given"),
        ("gap --seed -1", "--seed: seed is -1"),
        ("gap --table-task 7", "--table-task: "),
    ],
)
def test_bad_input_is_refused(capsys: Capture, words: str, message: str) -> None:
    """In one line that begins with the option, before anything is run or written."""
    assert refused(capsys, f"scaling {words}").startswith(f"rai-sim: {message}")
    assert not list(Path().iterdir())


@pytest.mark.slow
def test_an_interrupt_keeps_what_was_finished(tmp_path: Path) -> None:
    """It says how to go on, and that goes on."""
    words = [sys.executable, "-m", "rai_sim", "scaling", "n", "--points", "1000,1010,1020"]
    words += ["--algorithm", "vanilla", "--replications", "100000", "--no-progress"]
    process = subprocess.Popen(
        words,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": ROOT},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    store = tmp_path / "scaling-n.study"
    deadline = time.monotonic() + 120.0
    while not list(store.glob("replications-*.parquet")) and time.monotonic() < deadline:
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert out == ""
    assert "INTERRUPTED with " in err
    assert "to go on: rai-sim scaling --points 1000,1010,1020 --algorithm vanilla" in err
    assert err.rstrip().endswith(" n")
    done = int(err.partition("INTERRUPTED with ")[2].split()[0].replace(",", ""))
    results = rai.open_study(store)
    assert done == sum(run["replications_added"] for run in results.runs()) > 0


def test_an_interrupt_goes_on_with_all_that_was_asked_for(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With its figures and workers."""

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("rai_sim.cli.scaling.run_or_tell", interrupted)
    words = "--points 0.4,0.2 --algorithm lucb --jobs 2 --plot figures --format svg"
    run(f"scaling gap {words}", expect=130)
    assert capsys.readouterr().err == (
        f"rai-sim: INTERRUPTED; to go on: rai-sim scaling {words} gap\n"
    )


def test_a_kind_of_figures_without_figures(capsys: Capture) -> None:
    """Would do nothing."""
    assert refused(capsys, "scaling gap --format svg").startswith(
        "rai-sim: --format svg has no meaning without --plot; "
    )
