"""Negative control of LUCB's view: copies of the package in which one guard at a time is left
out."""

import json
import subprocess
import sys
from pathlib import Path

from mutants import mutant

#: What holds a guard, by name: in LUCB's view the old text becomes the new one, in which OFF stands
#: for "this one is left out". Two are missing, as no instance was found that needs them:
#: `_placed_among_cold`, and the last lines of `_gaps_hold`.
GUARDS_OFF = {
    "until": (
        "if v.until[level] < R:\n        return False",
        "if not OFF and v.until[level] < R:\n        return False",
    ),
    "border above": (
        "if p0 > 0 and not ranks_before",
        "if not OFF and p0 > 0 and not ranks_before",
    ),
    "border below": (
        "if p1 < n and not ranks_before",
        "if not OFF and p1 < n and not ranks_before",
    ),
    "least LCB": (
        "if p1 < n and not _ahead(v, row + LOW",
        "if not OFF and p1 < n and not _ahead(v, row + LOW",
    ),
    "greatest UCB": (
        "if p0 > 0 and not _ahead(v, row + HIGH",
        "if not OFF and p0 > 0 and not _ahead(v, row + HIGH",
    ),
    "settled": (
        "if (v.label[by_L] >= 0 and not -v.key",
        "if not OFF and (v.label[by_L] >= 0 and not -v.key",
    ),
    "nearest by L": (
        "if v.label[by_L] >= 0 and not (\n        small_gap",
        "if not OFF and v.label[by_L] >= 0 and not (\n        small_gap",
    ),
    "nearest by U": (
        "if v.label[by_U] >= 0 and not (\n        small_gap",
        "if not OFF and v.label[by_U] >= 0 and not (\n        small_gap",
    ),
    "label": (
        "v.of_mean[row]\n        and s.order[x] < v.label[row]",
        "v.of_mean[row]\n        and (OFF or s.order[x] < v.label[row])",
    ),
    "other": (
        "        key > v.other[row]\n        and s.taken",
        "        (OFF or key > v.other[row])\n        and s.taken",
    ),
    "later radius": ("c_then * (1.0 + CAUTION)", "(c_now if OFF else c_then) * (1.0 + CAUTION)"),
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


def mismatches_without_guards(folder: Path) -> tuple[int, dict[str, int]]:
    """Compare runs with and without a view; return how many differ with all guards in place, and
    with each of them left out.

    Parameters
    ----------
    folder : Path
        Empty folder for the copy and its compiled kernels. A number in the view's state tells which
        guard is off, so one copy does.
    """
    guards, choosing = "algorithms/lucb/view_guards.py", "algorithms/lucb/view.py"
    numbered = enumerate(GUARDS_OFF.items(), 1)
    edits = [
        (
            choosing if name == "later radius" else guards,
            old,
            new.replace("OFF", f"(v.state[v.state.size - 1] == {k})"),
        )
        for k, (name, (old, new)) in numbered
    ]
    edits += [
        (guards, "_CELLS = CHOSEN + LEVELS", "_CELLS = CHOSEN + LEVELS + 1\nOFF = [0]"),
        (guards, "    state[LIMIT] = limit", "    state[LIMIT], state[-1] = limit, OFF[0]"),
    ]
    # guards that are made for longer, of a few arms, are right as well, and needed more often
    edits += [
        (choosing, "v.margin[level] = 8", "v.margin[level] = 400"),
        (choosing, "_BORDER = 40, 6, 2, 3", "_BORDER = 2, 2, 1, 1"),
    ]
    environment = mutant(folder, edits)
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
