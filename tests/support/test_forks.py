"""Forked children: what would wait for polars' threads for ever is an error at once; everything
else works."""

import os
import subprocess
import sys

import pytest
from command_line import ROOT

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="a system without fork")

_PROGRAM = """
import io, multiprocessing, os, select, signal, sys, tempfile, time, warnings
warnings.simplefilter("ignore", DeprecationWarning)  # of forks beside threads
import polars as pl
import rai_sim as rai
from rai_sim.arms import movielens

folder = tempfile.mkdtemp()
with open(f"{folder}/ratings.csv", "w") as file:
    lines = [f"{user},{movie},{(user * movie) % 9 / 2 + 0.5},1\\n" for user in range(1, 9) for movie in range(1, 9)]
    file.write("userId,movieId,rating,timestamp\\n" + "".join(lines))
with open(f"{folder}/means.csv", "w") as file:
    file.write("movie_id,ratings,mean_stars\\n7,10,4.0\\n3,20,2.5\\n")
problem = rai.best_arm(rai.Bernoulli([0.9, 0.5, 0.1]))
def study(keep):
    return rai.Study.grid({"a": problem}, [rai.Butterscotch()], [0.1], replications=5, keep=keep)
rai.simulate(problem, rai.Butterscotch(), replications=5, seed=0)

def child(work):
    " Say what became of work in a forked child; HANG after 20 s. "
    reading, writing = os.pipe()
    pid = os.fork()
    if not pid:
        try:
            work()
            said = "fine"
        except BaseException as error:
            said = f"{type(error).__name__}: {error}"
        os.write(writing, said.encode())
        os._exit(0)
    ready = select.select([reading], [], [], 20.0)[0]
    said = os.read(reading, 10_000).decode() if ready else "HANG"
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    os.close(reading), os.close(writing)
    return said

def report(name, work):
    print(name, child(work), sep="|", flush=True)

report("fresh run", lambda: study("replications").run(f"{folder}/fresh"))  # before polars was used: a fork is harmless
rows, sums = study("replications").run(f"{folder}/rows"), study("aggregates").run(f"{folder}/sums")
task = rows.tasks[0]
for name, work in {
    "run": lambda: study("replications").run(f"{folder}/rows"), "new": lambda: study("replications").run(f"{folder}/new"),
    "results": lambda: study("aggregates").results(f"{folder}/sums"), "open_study": lambda: rai.open_study(f"{folder}/rows"),
    "summary": rows.summary, "rows": lambda: rows.rows().collect(), "result": lambda: rows.result(task), "html": rows._repr_html_,
    "distribution": lambda: rows.pulls_distribution(task), "verify": rows.verify, "verify sums": sums.verify,
    "report": lambda: sums.report(f"{folder}/page.html"), "figure": lambda: rai.plotting.mean_pulls(rows, against="delta"),
    "movies": lambda: movielens.load(f"{folder}/ratings.csv", top=3), "means": lambda: movielens.load_means(f"{folder}/means.csv"),
}.items():
    report(f"refused {name}", work)
for name, work in {
    "simulate": lambda: rai.simulate(problem, rai.Butterscotch(), replications=3000, seed=1, n_jobs=2),
    "frame": lambda: rai.simulate(problem, rai.Butterscotch(), replications=3000, seed=1).to_frame(),
    "trace": lambda: rai.trace(problem, rai.Butterscotch()).events_frame(), "text": lambda: str(rows) + str(rows.progress()),
    "named": lambda: rai.simulate(problem, rai.Butterscotch(), replications=30, seed=1).named(),
}.items():
    report(f"works {name}", work)
def grandchild():
    print("refused grandchild", child(lambda: rai.open_study(f"{folder}/rows")), sep="|", flush=True)
report("works fork again", grandchild)
"""

_POOLS = """
import multiprocessing, sys, tempfile
from concurrent.futures import ProcessPoolExecutor
import polars as pl
def work(folder):
    import rai_sim as rai  # imported after the fork, if there is one
    study = rai.Study.grid([rai.best_arm(rai.Bernoulli([0.9, 0.1]))], [rai.Butterscotch()], [0.1], replications=5)
    try:
        return str(study.run(folder).progress())
    except RuntimeError as error:
        return "refused" if "forkserver" in str(error) else str(error)
if __name__ == "__main__":
    pl.DataFrame({"a": [2, 1]}).lazy().sort("a").collect()
    for way in sys.argv[1:]:
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context(way)) as pool:
            print(way, pool.submit(work, tempfile.mkdtemp()).result(timeout=60), flush=True)
"""


def _said(*arguments: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", *arguments],
        capture_output=True,
        text=True,
        timeout=300,
        env=os.environ | {"PYTHONPATH": ROOT},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.slow
@pytest.mark.skipif(
    not sys.platform.startswith("linux"),
    reason="elsewhere only what went through the package is known",
)
def test_in_a_forked_child() -> None:
    """After the parent has used polars every query is refused, within seconds and with the remedy;
    what asks nothing of polars works."""
    found = dict(line.split("|", 1) for line in _said("-c", _PROGRAM))
    assert len(found) == 23
    for name, said in found.items():
        if name.startswith("refused"):
            assert said.startswith("RuntimeError: "), (name, said)
            assert 'multiprocessing.get_context("spawn") or "forkserver"' in said
        else:
            assert said == "fine", (name, said)


@pytest.mark.slow
def test_pools_of_processes(tmp_path: "os.PathLike[str]") -> None:
    """A pool that forks is refused, even if the package is imported in the child alone; the
    remedies named work."""
    program = os.path.join(tmp_path, "pools.py")
    with open(program, "w", encoding="utf-8") as file:
        file.write(_POOLS)
    assert _said(program, "fork", "spawn", "forkserver") == [
        "fork refused",
        "spawn (5, 5)",
        "forkserver (5, 5)",
    ]
