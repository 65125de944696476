"""Damage a kernel cache at random and use it, in a process of its own, which machine code that was
damaged would end."""

import sys
import warnings
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_kernels import RIGHT, begin, files, fresh, values

#: The cache's folder, and its files before any damage.
folder = Path()
whole: dict[Path, bytes] = {}
places = st.floats(0.0, 1.0, exclude_max=True)
damages = st.tuples(
    st.sampled_from(["cut", "flip", "zeros", "noise", "empty", "swap", "longer", "gone", "other"]),
    st.integers(0, 1),
    places,
    st.integers(0, 7),
    st.binary(max_size=40),
)


def damaged(
    kind: str, data: bytes, other: bytes, place: float, bit: int, noise: bytes
) -> bytes | None:
    """Return a file's bytes after some damage; None if it is gone."""
    at = int(place * len(data))
    if kind in ("empty", "gone", "other") or not data:
        return {"gone": None, "other": noise}.get(kind, b"")
    flipped = data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :]
    end = at + 1 + len(data) // 8
    zeros = data[:at] + b"\0" * len(data[at:end]) + data[end:]
    return {
        "cut": data[:at],
        "flip": flipped,
        "zeros": zeros,
        "swap": other,
        "longer": data + b"\0" + noise,
        "noise": data[:at] + noise + data[at + len(noise) :],
    }[kind]


@settings(max_examples=25, deadline=None, derandomize=True, database=None)
@given(st.lists(damages, min_size=1, max_size=3))
def whatever_is_damaged(drawn: list[tuple[str, int, float, int, bytes]]) -> None:
    """The results are right, one warning tells of damage at most, and the next process finds both
    kernels."""
    now: dict[Path, bytes | None] = dict(whole)
    for kind, which, place, bit, noise in drawn:
        path, other = list(whole)[which], list(whole)[1 - which]
        now[path] = damaged(kind, now[path] or b"", now[other] or b"", place, bit, noise)
    for path, data in now.items():
        path.unlink(missing_ok=True)
        if data is not None:
            path.write_bytes(data)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found, hits = values(fresh(folder))
    foreign = [data for data in now.values() if data is not None and data not in whole.values()]
    assert found == RIGHT
    assert hits == sum(now[path] == data for path, data in whole.items())
    assert [one.category for one in caught] == [RuntimeWarning] * bool(foreign), [
        str(one.message) for one in caught
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert values(fresh(folder)) == (RIGHT, 2)
    assert set(files(folder)) == set(whole)


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    begin(folder)
    assert values(fresh(folder)) == (RIGHT, 0)
    whole = {path: path.read_bytes() for path in files(folder)}
    assert len(whole) == 2
    whatever_is_damaged()
    print("right")
