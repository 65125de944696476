"""Broken copies of the package: negative controls for tests that must notice a wrong kernel.

A fault is planted by function, not by a text of the file: see `Replaced`, `Changed` and `Set`.
"""

import ast
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from pathwise import Task, close_tasks, draw_tasks, two_arms

import rai_sim
from rai_sim import LUCB, Vanilla
from rai_sim.algorithms.base import Algorithm


class Replaced(NamedTuple):
    """A function of the package and what takes its place.

    The replacement has the same name and parameters, without annotations. It is decorated as the
    original is, knows the names of its module, and may call the original under the name with
    `_unchanged` behind it.
    """

    module: str  # its path in rai_sim
    function: str  # its name, at the top level of the module
    source: str  # of the replacement


class Changed(NamedTuple):
    """A function of the package in which code becomes other code, where that is once.

    Both are as `ast.unparse` writes the function: how the file breaks lines does not matter.
    """

    module: str  # its path in rai_sim
    function: str  # its name, at the top level of the module
    old: str
    new: str


class Set(NamedTuple):
    """A module's constant that gets another value."""

    module: str  # its path in rai_sim
    constant: str  # its name, or names with commas, at the top level of the module
    value: str  # code; the former value goes by the name WAS


Edit = Replaced | Changed | Set

_PROGRAM = """
import sys
import numpy as np
import rai_sim as rai
np.save(sys.argv[1], [
    rai.simulate(problem, {algorithm}, delta={delta}, replications={replications}, seed={seed}).pulls
    for problem in ({problems},)
])
"""


def pulls_of_mutant(
    folder: Path,
    edits: Sequence[Edit],
    problems: Sequence[str],
    algorithm: str,
    *,
    delta: float,
    replications: int,
    seed: int,
) -> NDArray[np.int64]:
    """Run `simulate` in a copy of the package with faults planted; return the pulls, one row a
    problem.

    Parameters
    ----------
    folder : Path
        Empty folder for the copy and its compiled kernels.
    edits : sequence of Edit
        The faults.
    problems, algorithm : str
        Python expressions in which the package is called `rai`; one row of pulls a problem is
        returned.
    """
    environment = mutant(folder, edits)
    program = _PROGRAM.format(
        problems=", ".join(problems),
        algorithm=algorithm,
        delta=delta,
        replications=replications,
        seed=seed,
    )
    subprocess.run(
        [sys.executable, "-c", program, str(folder / "pulls.npy")],
        check=True,
        env=environment,
        cwd=folder,
        timeout=300,
    )
    pulls: NDArray[np.int64] = np.load(folder / "pulls.npy")
    return pulls


def mutant(folder: Path, edits: Sequence[Edit]) -> dict[str, str]:
    """Copy the package and change it; return the environment in which Python imports the copy."""
    package = Path(rai_sim.__file__).parent
    shutil.copytree(package, folder / "rai_sim", ignore=shutil.ignore_patterns("__pycache__"))
    for edit in edits:
        path = folder / "rai_sim" / edit.module
        path.write_text(planted(path.read_text(), edit))
    return dict(os.environ, PYTHONPATH=str(folder), NUMBA_CACHE_DIR=str(folder / "cache"))


def planted(text: str, edit: Edit) -> str:
    """Return a module's text with a fault planted; ValueError if it is not as expected."""
    if isinstance(edit, Replaced):
        return with_replaced(text, edit)
    return with_changed(text, edit) if isinstance(edit, Changed) else with_set(text, edit)


def with_changed(text: str, fault: Changed) -> str:
    """Return a module's text in which a function's code is changed.

    Raises
    ------
    ValueError
        If the module has no such function, or the code is not in it once.
    """
    place = f"{fault.module}, {fault.function}"
    function = _function(text, fault.function, place)
    code = ast.unparse(function)
    if code.count(fault.old) != 1:
        raise ValueError(
            f"{place}: {fault.old!r} is there {code.count(fault.old)} times instead of once: bring "
            "the negative control up to date"
        )
    return _with_lines(text, function, [code.replace(fault.old, fault.new)])


def with_set(text: str, fault: Set) -> str:
    """Return a module's text in which a constant has another value.

    Raises
    ------
    ValueError
        If the module does not set it once.
    """
    found = [
        node
        for node in ast.parse(text).body
        if isinstance(node, ast.Assign)
        and ast.unparse(node.targets[0]).strip("()") == fault.constant
    ]
    if len(found) != 1:
        raise ValueError(
            f"{fault.module}, {fault.constant}: set {len(found)} times instead of once: bring the "
            "negative control up to date"
        )
    was = f"WAS = {ast.unparse(found[0].value)}"
    return _with_lines(text, found[0], [was, f"{fault.constant} = {fault.value}"])


def _with_lines(text: str, node: ast.FunctionDef | ast.Assign, code: list[str]) -> str:
    """Return a text in which code stands in a node's place."""
    lines = text.splitlines()
    decorators = node.decorator_list if isinstance(node, ast.FunctionDef) else []
    first = min([node.lineno, *(one.lineno for one in decorators)]) - 1
    lines[first : node.end_lineno] = code
    return "\n".join([*lines, ""])


def with_replaced(text: str, fault: Replaced) -> str:
    """Return a module's text with the fault planted.

    Raises
    ------
    ValueError
        If the module has no such function, or one that is replaced already, or the replacement is
        not one function of its name and its parameters.
    """
    place = f"{fault.module}, {fault.function}"
    if f"def {fault.function}_unchanged(" in text:
        raise ValueError(f"{place} is replaced already")
    original = _function(text, fault.function, place)
    replacement = _function(fault.source, fault.function, f"the replacement of {place}")
    if _parameters(original) != _parameters(replacement):
        raise ValueError(
            f"{place} takes ({_parameters(original)}) and its replacement "
            f"({_parameters(replacement)}): bring the negative control up to date"
        )
    replacement.decorator_list = original.decorator_list
    original.name += "_unchanged"
    return _with_lines(text, original, [ast.unparse(original), "", "", ast.unparse(replacement)])


def _function(text: str, name: str, place: str) -> ast.FunctionDef:
    """Return the one function of a name at the top level of a text."""
    found = [
        node
        for node in ast.parse(text).body
        if isinstance(node, ast.FunctionDef) and node.name == name
    ]
    if len(found) != 1:
        raise ValueError(
            f"{place}: found {len(found)} times instead of once: bring the negative control up to "
            "date"
        )
    return found[0]


def _parameters(function: ast.FunctionDef) -> str:
    """Return names and defaults of parameters, without annotations."""
    arguments = function.args
    for argument in (
        *arguments.posonlyargs,
        *arguments.args,
        *arguments.kwonlyargs,
        *(one for one in (arguments.vararg, arguments.kwarg) if one is not None),
    ):
        argument.annotation = None
    return ast.unparse(arguments)


#: Skips one round longer than certified, in each of the ways to tell how far it is to a round that
#: may settle an arm: from the start, by the sure bound, by words, by words of the last two arms.
LENGTHENED_SKIP = (
    Replaced(
        "engine/round_robin/loop.py",
        "quiet_start",
        """
def quiet_start(law, schedule):
    return 1 + quiet_start_unchanged(law, schedule)
""",
    ),
    Replaced(
        "engine/certificates.py",
        "sure_rounds",
        """
def sure_rounds(D, spread):
    return 1 + sure_rounds_unchanged(D, spread)
""",
    ),
    Replaced(
        "engine/words.py",
        "first_suspect",
        """
def first_suspect(race, n, j, W, W_end):
    return 1 + first_suspect_unchanged(race, n, j, W, W_end)
""",
    ),
    Replaced(
        "engine/round_robin/duel.py",
        "_walk",
        """
def _walk(race, words, gap, R, W, slope):
    return min(1 + _walk_unchanged(race, words, gap, R, W, slope), LANES)
""",
    ),
)

#: LUCB's jumps too long: a line or a corridor left a pull ago, walls 16 times as far away, a budget
#: of a thousandth, a round too many in step.
LENGTHENED_LUCB = (
    Replaced(
        "algorithms/lucb/challenge.py",
        "_steps_inside",
        """
def _steps_inside(lines, p, word, S, J):
    return min(_steps_inside_unchanged(lines, p, word, S, J) + 1, J)
""",
    ),
    Replaced(
        "algorithms/lucb/corridor_walk.py",
        "first_exit",
        """
def first_exit(word, mean, at, up, down, most):
    return min(first_exit_unchanged(word, mean, at, up, down, most) + 1, most)
""",
    ),
    Replaced(
        "algorithms/lucb/corridors.py",
        "narrowest",
        """
def narrowest(walls, s, picks):
    return 16.0 * narrowest_unchanged(walls, s, picks)
""",
    ),
    Replaced(
        "algorithms/lucb/corridor_walk.py",
        "exit_budget",
        """
def exit_budget(law, picks, skip_error, jump):
    return 0.001 * exit_budget_unchanged(law, picks, skip_error, jump)
""",
    ),
    Replaced(
        "algorithms/lucb/in_step.py",
        "_and_one_more",
        """
def _and_one_more(quiet, left):
    return min(quiet + 2, left)
""",
    ),
)

#: The chord's slope kept for the line from W itself.
STALE_SLOPE = Replaced(
    "engine/round_robin/duel.py",
    "_line",
    """
def _line(race, chord, gap, R):
    W, slope = _line_unchanged(race, chord, gap, R)
    return W, chord.rise
""",
)
#: A look at the last of 64 rewards, of which half are then thrown away.
LOOK_AHEAD = Replaced(
    "engine/round_robin/duel.py",
    "_walk",
    """
def _walk(race, words, gap, R, W, slope):
    seen = LANES if bits_set(words[0]) % 2 else LANES // 2
    return min(_walk_unchanged(race, words, gap, R, W, slope), seen)
""",
)
#: States that a trace keeps are said to be of a round later.
LATE_STATE = Replaced(
    "engine/history.py",
    "keep_state",
    """
def keep_state(history, R):
    row = history.cursor[_KEPT]
    keep_state_unchanged(history, R)
    if history.cursor[_KEPT] > row:
        history.rounds[row] = R + 1
""",
)

#: Two arms are a crowd; and one that has lost its borders goes on by what it saw last, so that it
#: shows and does not hang.
SMALL_CROWDS: tuple[Edit, ...] = (
    Set("engine/round_robin/crowd/places.py", "MANY, FEW", "(2, 2)"),
    Set("engine/round_robin/crowd/places.py", "A_BORDER", "0"),
    Set("engine/round_robin/crowd/places.py", "MOST_SORTED, FEW_AWAKE", "(24, 0)"),
    Changed(
        "engine/round_robin/crowd/stride.py",
        "_make_judged_rounds",
        "end = follow_borders(run, until)",
        "end = max(follow_borders(run, until), over + 1)",
    ),
)
#: Faults of crowds.
CROWDS: dict[str, Edit] = {
    "settled arms are counted to the end": Replaced(
        "engine/round_robin/crowd/zones.py",
        "stays_clear",
        """
def stays_clear(crowd, over, until):
    return True
""",
    ),
    "zones are a sum too wide": Replaced(
        "engine/round_robin/crowd/zones.py",
        "clearance",
        """
def clearance(run, R):
    return clearance_unchanged(run, R) - 1
""",
    ),
    "who is settled beside a border is overlooked": Replaced(
        "engine/round_robin/crowd/zones.py",
        "borders_own_settled",
        """
def borders_own_settled(crowd, j, F):
    return False
""",
    ),
    "words are thrown away after a look": Changed(
        "engine/round_robin/crowd/stride.py",
        "_make_judged_rounds",
        "fresh = clock[OVER] == LANES",
        """for x in range(crowd.words.size if clock[OVER] < LANES else 0):
        if run.race.standings.total[x] != GONE:
            run.race.standings.total[x] += bits_set(crowd.words[x] & lanes(0, clock[OVER]))
        crowd.words[x] = np.uint64(0)
    clock[OVER] = LANES
    fresh = clock[OVER] == LANES""",
    ),
}
#: Two arms are a crowd, and sleep from round 1,000 on.
SMALL_RESTED: tuple[Edit, ...] = (
    Set("engine/round_robin/crowd/places.py", "MANY, FEW", "(2, 2)"),
    Set("engine/round_robin/crowd/places.py", "A_BORDER", "0"),
    Set("engine/round_robin/crowd/places.py", "MANY_RESTED, FEW_RESTED", "(2, 2)"),
    Set("engine/round_robin/crowd/places.py", "RESTED", "1000"),
)
#: Faults of sleep.
SLEEPERS: dict[str, Edit] = {
    "arms sleep that may be settled": Changed(
        "engine/round_robin/crowd/sleep.py",
        "_sleeper_of",
        "return k if unclear else -1",
        "return k",
    ),
    "sleepers' sums are a pull short": Changed(
        "engine/round_robin/crowd/sleep.py", "wake", "R - since, state)", "R - since - 1, state)"
    ),
    "words of those woken are out of step": Changed(
        "engine/round_robin/crowd/sleep.py",
        "wake",
        "word <<= np.uint64(over)",
        "word <<= np.uint64(over // 2)",
    ),
}

#: Two arms are a roster, for laws that might give words, too.
SMALL_ROSTERS: tuple[Edit, ...] = (
    Set("engine/round_robin/crowd/places.py", "MANY, FEW", "(2, 2)"),
    Set("engine/round_robin/crowd/places.py", "A_BORDER", "0"),
    Set("engine/round_robin/roster/lists.py", "FEW", "2"),
    Set("engine/round_robin/roster/lists.py", "A_ROUND", "0"),
    Changed("engine/round_robin/run.py", "new_crowd", "return places.allocate_crowd(N)", "pass"),
)
#: Faults of rosters.
ROSTERS: dict[str, Edit] = {
    "arms rest that may be settled": Changed(
        "engine/round_robin/roster/rest.py",
        "rounds_of_rest",
        "return min(kept, unclear)",
        "return kept",
    ),
    "arms rest beside a border": Changed(
        "engine/round_robin/roster/rest.py",
        "rounds_of_rest",
        "kept = min(kept, above)",
        "kept = max(kept, 100.0)",
    ),
    "the bounds are a tenth of what they should be": Changed(
        "engine/round_robin/roster/rest.py",
        "_held",
        "rounds = D * share",
        "rounds = 3.0 * D * share",
    ),
    "sums of those called are a pull short": Changed(
        "engine/round_robin/roster/stride.py",
        "_call_all",
        "R - since[arm], state)",
        "R - since[arm] - 1, state)",
    ),
    "sums of those due are a pull short": Changed(
        "engine/round_robin/roster/stride.py",
        "_pull_those_due",
        "R - before, state)",
        "R - before - 1, state)",
    ),
    "those at rest are counted on one side of all borders": Changed(
        "engine/round_robin/roster/stride.py",
        "_judge",
        "rest(roster, arm, k, R",
        "rest(roster, arm, 0, R",
    ),
    "fences are left unseen": Changed(
        "engine/round_robin/roster/borders.py",
        "find_between_fences",
        "low, high, before, among = (fences[2 * b + 1], fences[2 * b], 0, 0)",
        "low, high, before, among = (fences[2 * b + 1] - 50.0, fences[2 * b] + 50.0, 0, 0)",
    ),
}

#: For `pathwise.misses`: algorithm, task, seed, replications, options.
Trial = tuple[Algorithm, Task, int, int, dict[str, float]]
_BEST = (0.7, 0.55, 0.5, 0.45), (1, 3), (1, 0), 0.1
#: For each change of `LENGTHENED_LUCB` a trial that shows it.
SHOWN_BY: tuple[Trial, ...] = (
    (LUCB(), Task("words", *_BEST), 1, 300, {}),
    (LUCB(as_printed=True), Task("words", *_BEST), 1, 300, {"max_pulls": 20_000}),
    (LUCB(), Task("bits", *_BEST), 1, 300, {"skip_error": 0.0}),
    (LUCB(), Task("bits", *_BEST), 1, 300, {}),
    (LUCB(), two_arms("bits", 0.5, 0.25, 0.1), 1, 300, {"skip_error": 0.0}),
)

#: Trials of crowds.
CROWDED: tuple[Trial, ...] = tuple(
    (Vanilla(), task, 11, 200, {}) for task in draw_tasks(1, 10, ("words",), (3, 12), (0.12, 0.4))
)

#: Trials of rosters.
ROSTERED: tuple[Trial, ...] = tuple(
    (Vanilla(merging=False), task, 11, 100, {})
    for task in draw_tasks(1, 12, ("bits", "levels", "reals"), (4, 14), (0.12, 0.4))
)

#: A width that is flat for long, taken to grow as the root of the rounds.
STEEP = Changed("algorithms/vanilla/widths.py", "_shift", "return schedule.shift", "return 0.0")
#: Trials of such widths: two arms, tuned for more rounds than they take, of a law that does not leap.
FLAT: tuple[Trial, ...] = tuple(
    (
        Vanilla(width="mixture", tuned_rounds=1_000_000),
        two_arms("reals", 0.5, gap, 0.1),
        11,
        200,
        {},
    )
    for gap in (0.01, 0.02, 0.03)
)

#: Trials of crowds in which arms sleep.
RESTING: tuple[Trial, ...] = tuple(
    (Vanilla(), task, 11, 20, {}) for task in close_tasks(1, 8, (6, 40))
)

_PATHWISE = """
import sys
sys.path.insert(0, sys.argv[2])
import numpy as np
from pathwise import Task, decisions_use_used_rewards, misses, two_arms
from rai_sim import LUCB, Vanilla
missed = [misses(rule, task, seed, count, workers={workers}, **options).number for rule, task, seed, count, options in {trials}]
hung = len(decisions_use_used_rewards(Vanilla(), two_arms("words", 0.5, 0.14, 0.1), 11, 0, 40)[0]) if {reuse} else 0
np.save(sys.argv[1], [*missed, hung])
"""


def pathwise_findings_of_mutant(
    folder: Path,
    edits: Sequence[Edit],
    trials: Sequence[Trial],
    workers: int = 1,
    reuse: bool = False,
) -> tuple[list[int], int]:
    """Return how many replications of each trial differ from the literal loop in a copy of the
    package with faults planted.

    Parameters
    ----------
    folder, edits
        As in `pulls_of_mutant`.
    trials : sequence of (algorithm, task, seed, count, options)
        What `pathwise.misses` is given.
    workers : int
        Threads.
    reuse : bool
        Return as well in how many of 40 replications a decision hangs on rewards that are then
        thrown away; else 0.
    """
    environment = mutant(folder, edits)
    program = _PATHWISE.format(trials=list(trials), workers=workers, reuse=reuse)
    arguments = [
        sys.executable,
        "-c",
        program,
        str(folder / "found.npy"),
        str(Path(__file__).parent),
    ]
    subprocess.run(arguments, check=True, env=environment, cwd=folder, timeout=600)
    *missed, hung = np.load(folder / "found.npy").tolist()
    return missed, hung
