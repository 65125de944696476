"""Every block of the README runs as it stands, or with fewer replications; its pictures are ones that
tests compare."""

import inspect
import re
import shlex
import shutil
import subprocess
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest
from command_line import Capture, printed
from matplotlib import pyplot
from ratings import latest
from typer.main import get_command

import rai_sim as rai
from rai_sim.algorithms.base import ALGORITHMS
from rai_sim.arms.base import LAWS
from rai_sim.cli import app, main

README = Path(__file__).parents[1] / "README.md"


def blocks(language: str) -> list[str]:
    """Return the README's code blocks of a language."""
    return re.findall(rf"```{language}\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)


def test_ten_lines(capsys: Capture) -> None:
    """At most ten, run as printed; they print what stands below them, but for the time taken."""
    (example,) = (block for block in blocks("python") if "import rai_sim as rai" in block)
    assert len(example.splitlines()) <= 10
    pyplot.switch_backend("agg")
    exec(example, {})
    pyplot.close("all")
    (shown,) = blocks("text")
    assert capsys.readouterr().out.partition("  time ")[0] == shown


def test_the_front_page_is_short() -> None:
    """What comes before the reference is three screens."""
    front = README.read_text(encoding="utf-8").partition("\n# Reference\n")[0]
    assert len(front.splitlines()) <= 130


def test_names_and_files_are_there() -> None:
    """What the table of functions names, and every file that is linked; headings too."""
    text = README.read_text(encoding="utf-8")
    table = text.partition("## Which function")[2].partition("\n## ")[0].splitlines()[4:]
    shown = [name for row in table for name in re.findall(r"`([\w.]+)", row.split("|")[2])]
    assert len(shown) > 20
    for name in shown:
        assert attrgetter(name)(rai) is not None
    links = re.findall(r"\]\((?!http)(.*?)\)", text)
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    anchors = {re.sub(r"[^\w -]", "", one.lower()).replace(" ", "-") for one in headings}
    for link in links:
        known = link[1:] in anchors if link[0] == "#" else (README.parent / link).is_file()
        assert known, link


def test_problems_and_results() -> None:
    """As printed, with fewer replications."""
    (example,) = (block for block in blocks("python") if "plotting.instance" in block)
    pyplot.switch_backend("agg")
    names: dict[str, Any] = {"rai": rai}
    exec(example.replace("1000", "40").replace("432", "32"), names)
    pyplot.close("all")
    assert names["problem"] == rai.table_problem(task=2)


@pytest.mark.landing
def test_the_example_of_movies(tmp_path: Path) -> None:
    """With synthetic arms where a download would be read."""
    (example,) = (block for block in blocks("python") if "movielens" in block)
    latest(tmp_path)
    few = example.replace("ml-25m.zip", str(tmp_path)).replace("top=50", "top=4")
    names: dict[str, Any] = {"rai": rai}
    exec(few.replace("arms, 10", "arms, 1").replace("=100", "=5"), names)
    assert names["result"].named()["name"].to_list() == ["Très bien (1995)"]


def test_the_file_of_a_study(tmp_path: Path) -> None:
    """It is read, and comes to the tasks it says."""
    (text,) = blocks("toml")
    path = tmp_path / "gaps.toml"
    path.write_text(text)
    study = rai.Study.from_toml(path)
    assert study.precision == 0.01
    assert len(study.tasks) == (3 + 3) * 3 * 2
    tops = {task.experiment.problem for task in study.tasks if "top" in task.instance}
    assert {problem.required[0] for problem in tops} == {2, 4, 10}


@pytest.mark.landing
def test_the_example_in_python_and_sql(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer replications and no bar, else as printed; the query is run by DuckDB."""
    monkeypatch.chdir(tmp_path)
    example, scan, pictures = (block for block in blocks("python") if "table.study" in block)
    names: dict[str, object] = {"rai": rai}
    exec(example.replace("10_000", "100").replace("progress=True", "progress=False"), names)
    exec(scan.replace("\nnamed.agg", "\nfound = named.agg"), names)
    found, results = names["found"], names["results"]
    assert isinstance(found, pl.DataFrame)
    assert isinstance(results, rai.StudyResults)
    means = results.summary()["pulls_mean"].sort()
    assert found["pulls"].sort().to_list() == pytest.approx(means.to_list())
    query = duckdb.sql(blocks("sql")[0])
    assert query is not None
    rows = query.fetchall()
    assert sorted(row[4] for row in rows) == pytest.approx(means.to_list())
    pyplot.switch_backend("agg")
    exec(pictures.replace("1000", "50"), names | {"problem": rai.table_problem(task=2)})
    assert len(pyplot.get_fignums()) == 5
    pyplot.close("all")


def test_the_example_of_more_workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On processes that start sooner, else as printed: the study's rows are a simulation's."""
    monkeypatch.chdir(tmp_path)
    (example,) = (block for block in blocks("python") if "parallel_config" in block)
    problem = rai.table_problem(task=2)
    study = rai.Study.grid([problem], [rai.Vanilla()], [0.01], replications=1000)
    names = {"rai": rai, "problem": problem, "study": study}
    exec(example.replace('"loky", n_jobs', '"multiprocessing", n_jobs'), names)
    alone = rai.simulate(problem, rai.Vanilla(), replications=1000, seed=0)
    assert study.results("same.study").result(study.tasks[0]) == alone


@pytest.mark.landing
def test_the_example_of_own_means(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """Fewer algorithms and replications, else as printed; the table has the arms' names."""
    monkeypatch.chdir(tmp_path)
    (example,) = (block for block in blocks("sh") if "--names" in block)
    made, *lines = example.splitlines()
    assert len(lines) <= 12
    subprocess.run(["sh", "-c", made], check=True)
    shorter = "run --algorithm butterscotch --replications 20"
    said = [
        printed(
            capsys, line.partition("#")[0].replace("rai-sim run", shorter).removeprefix("rai-sim ")
        )
        for line in lines
    ]
    assert "named most often: cluster 1: Solaris, Stalker" in said[0]
    assert pl.read_csv("runs.csv")["delta"].to_list() == [0.1, 0.01]
    assert all("Stalker" in text for text in said)
    assert Path("trace.png").stat().st_size > 10_000


def test_the_example_of_kept_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As printed, of fewer replications."""
    monkeypatch.chdir(tmp_path)
    (example,) = (block for block in blocks("python") if "load_result" in block)
    assert len(example.splitlines()) <= 12
    problem = rai.table_problem(task=2)
    rai.Study.grid([problem], [rai.Vanilla()], [0.1], replications=7).run("gaps.study")
    exec(example.replace("1000", "40"), {"rai": rai, "problem": problem})
    assert rai.load_result("vanilla.parquet").ranges == ((0, 80),)
    assert pl.read_csv("tasks.csv")["replications"].to_list() == [7]
    assert pl.read_parquet("rows.parquet")["replication"].to_list() == list(range(7))


def test_the_example_of_seeds() -> None:
    """As printed."""
    (example,) = (block for block in blocks("python") if "rai-sim trace" in block)
    exec(example, {"rai": rai, "problem": rai.table_problem(task=2)})


@pytest.mark.landing
def test_the_example_for_a_paper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With fewer replications: at most 12 lines, five figures, a file without Type 3 fonts."""
    monkeypatch.chdir(tmp_path)
    (example,) = (block for block in blocks("python") if "plotting.paper" in block)
    assert len(example.splitlines()) <= 12
    pyplot.switch_backend("agg")
    few = example.replace("=500", "=50").replace("=200", "=50")
    exec(few, {"rai": rai, "problem": rai.table_problem(task=2)})
    figures = [pyplot.figure(number) for number in pyplot.get_fignums()]
    assert [figure.get_figwidth() for figure in figures] == [3.25, 3.25, 3.25, 6.75, 5.0]
    assert b"/Type3" not in (tmp_path / "calibration.pdf").read_bytes()
    pyplot.close("all")


def test_the_example_of_certification(capsys: pytest.CaptureFixture[str]) -> None:
    """As printed: the instance, the end of its interval, and a verdict."""
    (example,) = (block for block in blocks("python") if "as_printed=True" in block)
    names: dict[str, Any] = {"rai": rai, "problem": rai.table_problem()}
    exec(
        example.replace("rai.Vanilla(), delta=0.1", "rai.Vanilla(), delta=0.1, problems=one"),
        names | {"one": {"mine": rai.table_problem()}},
    )
    assert "not delta-PC: on 'clusters of one: second of five' 17 of 32" in capsys.readouterr().out
    found = rai.certify(rai.LUCB(as_printed=True), delta=0.1, seed=0)
    (row,) = found.violations
    assert f"'{row.instance}', {row.low:.2f}" in example


def test_the_example_of_an_own_algorithm() -> None:
    """As printed: compiled and by Python, from a program without a file."""
    (example,) = (block for block in blocks("python") if "OwnRule" in block)
    names: dict[str, Any] = {"rai": rai, "__name__": "__main__"}
    try:
        exec(example, names)
        runs = [
            rai.simulate(names["best"], rule, delta=0.1, replications=2, seed=0).pulls.tolist()
            for rule in (names["Uniform"](50), names["Uniform"](50).in_python())
        ]
        assert runs[0] == runs[1] == [150, 150]
    finally:
        ALGORITHMS.pop("uniform", None)


@pytest.mark.landing
def test_the_example_of_scaling(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer replications, else as printed; pictures are ones that tests compare."""
    monkeypatch.chdir(tmp_path)
    (example,) = (block for block in blocks("python") if "scaling.study" in block)
    pyplot.switch_backend("agg")
    names: dict[str, object] = {"rai": rai}
    exec(example.replace("1000", "30").replace("replications=100", "replications=30"), names)
    assert isinstance(names["results"], rai.StudyResults)
    assert names["results"].progress() == (360, 360)
    assert len(pyplot.get_fignums()) == 4
    pyplot.close("all")


def test_pictures_are_what_tests_draw() -> None:
    """Each is the stored expectation of a test, so that it cannot age; the front page has one of the
    problem, a trace, efficiency and a report."""
    found = re.findall(r"!\[.+?\]\((.*?)\)|<img src=\"(.*?)\"", README.read_text(encoding="utf-8"))
    pictures = [one or other for one, other in found]
    names = [Path(picture).stem.removeprefix("test_picture_of_") for picture in pictures]
    assert names == ["instance", "vanilla", "efficiency", "a_report", "panels"]
    for picture in pictures:
        assert (README.parent / picture).is_file()
        tests = (README.parent / picture).parents[1].glob("test_*.py")
        drawn = re.compile(rf"@picture\S*(?: .*)?\ndef {Path(picture).stem}\(")
        assert len([test for test in tests if drawn.search(test.read_text("utf-8"))]) == 1


def test_the_example_of_sigma() -> None:
    """At most twelve lines, as printed: its assertion holds, and another sigma gives other pulls."""
    (example,) = (block for block in blocks("python") if "sigma=2.0" in block)
    assert len(example.splitlines()) <= 12
    names: dict[str, Any] = {"rai": rai}
    exec(example.replace("1000", "50"), names)
    with pytest.raises(AssertionError):
        exec(example.replace("1000", "50").replace("shares, sigma=2.0", "shares, sigma=3.0"), names)
    assert names["ours"].correct.all()
    assert names["noisy"].why_not_sub_gaussian() is None


def test_the_table_of_bounds() -> None:
    """Its numbers are what the functions return for the paper's task 2, as of Gaussian arms; that of
    Bernoulli ones beside them."""
    text, problem = README.read_text(encoding="utf-8"), rai.table_problem(task=2)
    cells = dict(re.findall(r"^\| `(\w+)` \| .* \| ([\d, ]+) \|$", text, re.MULTILINE))
    tight = rai.bounds.degenne_koolen(problem).value * np.log(100.0)
    practical = partial(rai.bounds.practical, problem, 0.01, family="gaussian")
    oracles = [practical("gk16-unproven"), practical("pairs"), practical("paper")]
    assert cells == {
        "lower": f"{rai.bounds.lower(problem, 0.01):,.0f}",
        "degenne_koolen": f"{tight:,.0f}",
        "at_delta": f"{rai.bounds.at_delta(problem, 0.01, 'gaussian').pulls:,.0f}",
        "practical": ", ".join(f"{pulls:,.0f}" for pulls in oracles),
    }
    assert f"where they are such: {rai.bounds.at_delta(problem, 0.01).pulls:,.0f} |" in text


def test_all_laws_are_in_the_table() -> None:
    """With their arguments' defaults."""
    rows = re.findall(r"^\| `(\w+)\((.*?)\)` \|", README.read_text(encoding="utf-8"), re.MULTILINE)
    ours = {law.__name__ for law in LAWS.values() if law.__module__.startswith("rai_sim.")}
    assert {name for name, _ in rows} == ours
    for name, arguments in rows:
        known = inspect.signature(getattr(rai, name)).parameters
        for argument in arguments.split(", "):
            key, _, default = argument.partition("=")
            assert not default or known[key].default == float(default)


# The command line
# --------------------------------------------------------------------------------------------------


def calls(text: str) -> list[list[str]]:
    """Return the words of every call of `rai-sim` in a block."""
    lines = [line.partition("#")[0] for line in text.splitlines()]
    found = [shlex.split(part) for line in lines for part in re.split("&&?", line)]
    return [words[1:] for words in found if words[:1] == ["rai-sim"]]


def calls_beside(text: str) -> list[list[str]]:
    """Return the calls of the one block that holds a text."""
    (block,) = (block for block in blocks("sh") if text in block)
    return calls(block)


def test_the_two_commands() -> None:
    """One installs and runs the main job, one installs and runs the tests."""
    assert blocks("sh")[:2] == [
        "pip install . && rai-sim run\n",
        "pip install '.[test]' && python -m pytest\n",
    ]


def test_command_lines_are_understood() -> None:
    """Every verb and every option of every line is known, values are of the right kind."""
    verbs = get_command(app).commands  # type: ignore[attr-defined]
    found = [words for block in blocks("sh") for words in calls(block)]
    assert len(found) > 20
    for verb, *words in found:
        verbs[verb].make_context(verb, words)
    with pytest.raises(Exception, match="No such option"):
        verbs["run"].make_context("run", ["--replicatoins", "5"])


@pytest.fixture
def gaps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stand in a folder with the README's study, but for its largest instances and its precision."""
    monkeypatch.chdir(tmp_path)
    (text,) = blocks("toml")
    few = text.replace("precision = 0.01 ", "replications = 6 ").replace(
        "[0.1, 0.01, 0.001]", "[0.1]"
    )
    Path("gaps.toml").write_text(few.replace("[10, 20, 50]", "10"))


@pytest.mark.landing
def test_the_lines_of_studies(gaps: None, capsys: Capture) -> None:
    """As printed, one after the other; with three parts, whose union is what a process alone has."""
    for words in calls_beside("--verify"):
        assert main(words) == 0
    assert pl.read_csv("gaps.csv")["replications"].to_list() == [6] * 12
    assert "all are the same to the bit" in capsys.readouterr().out
    both, again, (*part, share, store, folder), (merge, _, *into) = calls_beside("--part 3/16")
    assert (both, share, store, folder) == (again, "3/16", "--store", "part-3")
    alone = rai.open_study("gaps.study").summary()
    shutil.rmtree("gaps.study")
    for number in (1, 2, 3):
        assert main([*part, f"{number}/3", store, f"part-{number}"]) == 0
    assert main([merge, "part-1", "part-2", "part-3", *into]) == 0
    merged = rai.open_study("gaps.study").summary()
    assert merged.sort("task").equals(alone.sort("task"))
    assert main(both) == 0


@pytest.mark.slow
def test_the_lines_of_figures(gaps: None, capsys: Capture) -> None:
    """As printed, of the study above: figures in a folder, a page, a trace."""
    assert main(["study", "gaps.toml"]) == 0
    for words in calls_beside("rai-sim plot"):
        assert main(words) == 0
    assert Path("trace.png").stat().st_size > 10_000
    assert Path("report.html").stat().st_size > 100_000
    assert {file.suffix for file in Path("gaps.figures").iterdir()} == {".png", ".pdf"}


@pytest.mark.slow
def test_the_lines_of_certification_and_scaling(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """As printed, but for LUCB's certification, which scripts/verify.py has, and scaling with fewer
    replications; exit codes are those that stand beside them."""
    monkeypatch.chdir(tmp_path)
    printed_rule, _, vanilla = calls_beside("rates.png")
    assert [main(words) for words in (printed_rule, vanilla)] == [1, 0]
    told = capsys.readouterr().out
    assert "17 of 32" in told
    over_delta, over_gap = calls_beside("rai-sim scaling")
    assert main([*over_delta, "--replications", "30"]) == 0
    assert main([*over_gap, "--replications", "30"]) == 0
    assert list(Path("figures").iterdir())
