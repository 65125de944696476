"""Negative control of LUCB's view: copies of the package in which one guard at a time is left
out."""

import json
import subprocess
import sys
from pathlib import Path

from mutants import Changed, Edit, Set, mutant

_HOLDS, _GAPS = ("view_guards.py", "view_holds"), ("view_guards.py", "_gaps_hold")
_AHEAD, _BOUNDS = ("view_guards.py", "_ahead"), ("view_guards.py", "set_bounds")
_CARRY_ON = ("view_guards.py", "carry_on")
#: What holds a guard, by name: file and function of LUCB's view, and old code that becomes new, in
#: which OFF stands for "this one is left out". Two are missing, as no instance was found that needs
#: them: `_placed_among_cold`, and the last lines of `_gaps_hold`.
GUARDS_OFF = {
    "until": (*_HOLDS, "if v.until[level] < R", "if not OFF and v.until[level] < R"),
    "border above": (
        *_HOLDS,
        "if p0 > 0 and (not ranks_before",
        "if not OFF and p0 > 0 and (not ranks_before",
    ),
    "border below": (
        *_HOLDS,
        "if p1 < n and (not ranks_before",
        "if not OFF and p1 < n and (not ranks_before",
    ),
    "least LCB": (
        *_HOLDS,
        "if p1 < n and (not _ahead(v, row + LOW",
        "if not OFF and p1 < n and (not _ahead(v, row + LOW",
    ),
    "greatest UCB": (
        *_HOLDS,
        "if p0 > 0 and (not _ahead(v, row + HIGH",
        "if not OFF and p0 > 0 and (not _ahead(v, row + HIGH",
    ),
    "settled": (
        *_GAPS,
        "if v.label[by_L] >= 0 and (not -v.key[by_L] - L > 0.0) or "
        "(v.label[by_U] >= 0 and (not U - v.key[by_U] > 0.0)):",
        "if not OFF and (v.label[by_L] >= 0 and (not -v.key[by_L] - L > 0.0) or "
        "(v.label[by_U] >= 0 and (not U - v.key[by_U] > 0.0))):",
    ),
    "nearest by L": (
        *_GAPS,
        "if v.label[by_L] >= 0 and (not (small_gap",
        "if not OFF and v.label[by_L] >= 0 and (not (small_gap",
    ),
    "nearest by U": (
        *_GAPS,
        "if v.label[by_U] >= 0 and (not (small_gap",
        "if not OFF and v.label[by_U] >= 0 and (not (small_gap",
    ),
    "label": (
        *_AHEAD,
        "(s.order[x] < v.label[row])",
        "(OFF or s.order[x] < v.label[row])",
    ),
    "other": (*_AHEAD, "(key > v.other[row] and", "((OFF or key > v.other[row]) and"),
    "later radius": (
        *_BOUNDS,
        "np.float64(R), np.float64(until)",
        "np.float64(R), np.float64(R if OFF else until)",
    ),
    "growth": (
        *_CARRY_ON,
        "v.other[row] += growth +",
        "v.other[row] += (0.0 if OFF else growth) +",
    ),
    "growth of the most extreme": (
        *_CARRY_ON,
        "v.key[row] = max(key, v.other[row])",
        "v.key[row] = max(v.key[row] if OFF else key, v.other[row])",
    ),
}

_PROGRAM = """
import json, sys
sys.path.insert(0, sys.argv[2])
from replay import run_kernel
from algorithms.lucb.test_view import RULES, instances, run_without_view
from rai_sim.algorithms.lucb import view_guards
found = [0] * (int(sys.argv[3]) + 1)
for rule in RULES:
    for instance in instances(47 + rule.as_printed, 150, 45, 200) + instances(49, 60, 200, 1_000):
        right = run_without_view(rule, instance)
        for off in range(len(found)):
            view_guards.OFF[0] = off
            found[off] += run_kernel(rule, instance) != right
open(sys.argv[1], "w").write(json.dumps(found))
"""


def guards_by_number() -> list[Edit]:
    """Return what lets a number in the view's state tell which guard is off, none at 0."""
    guards, choosing = "algorithms/lucb/view_guards.py", "algorithms/lucb/view_choice.py"
    edits: list[Edit] = [
        Changed(
            f"algorithms/lucb/{file}",
            function,
            old,
            new.replace("OFF", f"(v.state[v.state.size - 1] == {number})"),
        )
        for number, (file, function, old, new) in enumerate(GUARDS_OFF.values(), 1)
    ]
    edits += [
        Set(guards, "_CELLS", "WAS + 1\nOFF = [0]"),
        Changed(
            guards,
            "allocate_view",
            "    state[LIMIT] = limit",
            "    state[LIMIT], state[-1] = (limit, OFF[0])",
        ),
    ]
    # guards that are made for longer, of a few arms, are right as well, and needed more often
    return [
        *edits,
        Changed(guards, "set_bounds", "R + (R >> _LASTING)", "R + 400"),
        Set(choosing, "_ROLE, _GAP, _QUIET, _BORDER", "(2, 2, 1, 1)"),
    ]


def mismatches_without_guards(folder: Path) -> tuple[int, dict[str, int]]:
    """Compare runs with and without a view; return how many differ with all guards in place, and
    with each of them left out.

    Parameters
    ----------
    folder : Path
        Empty folder for the copy and its compiled kernels. A number in the view's state tells which
        guard is off, so one copy does.
    """
    environment = mutant(folder, guards_by_number())
    arguments = [
        sys.executable,
        "-c",
        _PROGRAM,
        str(folder / "found"),
        str(Path(__file__).parent),
        str(len(GUARDS_OFF)),
    ]
    subprocess.run(arguments, check=True, env=environment, cwd=folder, timeout=600)
    none, *found = json.loads((folder / "found").read_text())
    return none, dict(zip(GUARDS_OFF, found, strict=True))
