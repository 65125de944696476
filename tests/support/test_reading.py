"""Files from outside but for ratings: tables of numbers, studies in TOML, and stores in folders of
any name."""

import io
import os
import shutil
import warnings
from pathlib import Path

import numpy as np
import pytest
from command_line import Capture, document, printed, refused, run
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import rai_sim as rai
from rai_sim.study import Study, open_study
from rai_sim.study.file import store_of
from rai_sim.study.file_values import StudyFileError
from rai_sim.study.store import StoreError, StoreWarning
from rai_sim.study.verify import Verification
from rai_sim.support.reading import inputs_noted, read_array, read_text, was_read

BOM = b"\xef\xbb\xbf"


def stored(array: NDArray[np.generic], **options: bool) -> bytes:
    """Return a .npy file."""
    memory = io.BytesIO()
    np.save(memory, array, **options)
    return memory.getvalue()


def with_header(text: str, body: bytes = bytes(16)) -> bytes:
    """Return a .npy file with a header of one's own."""
    return (
        b"\x93NUMPY\x01\x00" + (len(text) + 1).to_bytes(2, "little") + text.encode() + b"\n" + body
    )


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"0.75\n0.25\n", [0.75, 0.25]),
        (BOM + b"0.75\r\n0.25", [0.75, 0.25]),
        (b"0.75\r0.25\r", [0.75, 0.25]),
        (b"# one, two\n\n 0.75\n  # more\n.25e0\n\n", [0.75, 0.25]),
        (b"# a, b\n0.75 0.25\n1 0\n", [[0.75, 0.25], [1.0, 0.0]]),
        (b"0.75, 0.25\n1,0", [[0.75, 0.25], [1.0, 0.0]]),
        (b"0.75,0.25\n", [[0.75, 0.25]]),
    ],
)
def test_texts_of_numbers(data: bytes, expected: list[float], tmp_path: Path) -> None:
    """Comments are lines; ends of lines are those of any system."""
    path = tmp_path / "means[1]*.txt"
    path.write_bytes(data)
    assert read_array(path).tolist() == expected


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"0.75 # the best\n0.25\n", "line 1 holds '#', which is no number"),
        (b"0.75,0.25#,1\n0.5,0.5\n", "line 1 holds '0.25#', which"),
        (b'"0.75"\n0.25\n', "line 1 holds '\"0.75\"'"),
        (b"0.75\x00\n0.25\n", r"line 1 holds '0.75\\x00'"),
        (b"0.75\n\xef\xbb\xbf0.25\n", "line 2 holds '.*0.25'"),
        (b"0.75;0.25\n", "line 1 holds '0.75;0.25'"),
        (b"0.75,0.25,\n", "line 1 holds ''"),
        (b"# two\n\n0.75,0.25\n1\n", "^line 4 holds 1 number, line 3 2$"),
        (b"1\n1 2\n", "^line 2 holds 2 numbers, line 1 1$"),
        (b"mean\n0.75\n", "line 1 holds 'mean'"),
        (b"0.5\r\n1_0\n", "line 2 holds '1_0'"),
        (b"# nothing\n\n", "it is empty"),
        (BOM, "it is empty"),
        ("0.75\n".encode("utf-16"), "it is no text in UTF-8: byte 0xff at 0"),
        (b"0.75\n\xe9\n", "it is no text in UTF-8: byte 0xe9 at 5"),
    ],
)
def test_texts_that_are_refused(data: bytes, said: str, tmp_path: Path) -> None:
    """Nothing is cut off, passed over or replaced."""
    path = tmp_path / "means.csv"
    path.write_bytes(data)
    with pytest.raises(ValueError, match=said):
        read_array(path)


@pytest.mark.parametrize("kind", ["<f8", ">f8", "<f4", ">i2", "u1", "?", "<f2"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_stored_numbers(kind: str, order: str, tmp_path: Path) -> None:
    """Of any real type, in any order."""
    table = np.array(np.array([[0, 1, 1], [1, 0, 0]]), dtype=kind, order=order)  # type: ignore[call-overload]
    path = tmp_path / "t.npy"
    path.write_bytes(stored(table))
    assert read_array(path).dtype == np.float64
    assert read_array(path).tolist() == [[0, 1, 1], [1, 0, 0]]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (
            stored(np.array([0.5 + 1j, 0.25])),
            "values of type complex128, which are no real numbers",
        ),
        (stored(np.array(["0.5", "0.25"])), "values of type <U4, which"),
        (stored(np.array([b"0.5", b"0.25"])), r"values of type \|S4, which"),
        (stored(np.array(["2020-01-01"], "M8[D]")), r"values of type datetime64\[D\], which"),
        (stored(np.array([3], "m8[s]")), r"values of type timedelta64\[s\], which"),
        (stored(np.zeros(2, [("a", "f8")])), "which are no real numbers"),
        (
            stored(np.array([0.5, None]), allow_pickle=True),
            "^it holds values of type object, which are",
        ),
        (
            stored(np.array([0.5, 0.25])) + b"x",
            r"it holds more bytes than its header says, which is an array of shape \(2,\)",
        ),
        (
            stored(np.array([0.5])) + stored(np.array([0.25])),
            "it holds more bytes than its header says",
        ),
        (stored(np.array([0.5, 0.25]))[:-1], "Failed to read all data"),
        (b"", "EOF"),
        (b"0.5\n0.25\n", "magic string is not correct"),
        (b"PK\x05\x06" + bytes(18), "magic string is not correct"),
        (
            with_header("{'descr': '<f8', 'fortran_order': False, 'shape': (10000000000000,)}"),
            "more numbers than memory holds",
        ),
        (
            with_header("{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}"),
            "Failed to read all data",
        ),
        (with_header("(" * 5000), "its header is damaged"),
        (with_header(" " * 20000), "^its header is longer than that of any array of numbers$"),
    ],
)
def test_stored_numbers_that_are_refused(data: bytes, said: str, tmp_path: Path) -> None:
    """Whatever NumPy would convert, leave unread or fail on in its own ways."""
    path = tmp_path / "t.npy"
    path.write_bytes(data)
    with pytest.raises(ValueError, match=said):
        read_array(path)


TYPED = "".join(f"{number}\n" for number in (0.75, 0.25, 1e-3, 0.5))
PIECES = [*'#"\n\r\0 ,;\t_eE+-.0', "\ufeff", "\x85", "0x", "nan", "\u0663"]


@pytest.mark.landing
@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(st.integers(0, len(TYPED)), st.sampled_from(PIECES)), max_size=3))
def test_a_changed_text_is_read_by_its_letters_or_refused(
    tmp_path_factory: pytest.TempPathFactory, changes: list[tuple[int, str]]
) -> None:
    """The numbers are those that an independent reading finds."""
    text = TYPED
    for at, put in changes:
        text = text[:at] + put + text[at:]
    path = tmp_path_factory.getbasetemp() / "changed.txt"
    path.write_bytes(text.encode())
    lines = [
        line.strip()
        for line in text.removeprefix("\ufeff")
        .replace("\r\n", "\n")
        .replace("\r", "\n")
        .split("\n")
    ]
    lines = [line for line in lines if line and not line.startswith("#")]
    rows = [
        line.split(",") if any("," in other for other in lines) else line.split() for line in lines
    ]
    try:
        found = read_array(path)
    except ValueError:
        return
    assert not any(sign in entry for row in rows for entry in row for sign in '#"\0_x\u0663')
    assert np.array_equal(
        found.reshape(len(rows), -1),
        [[float(entry) for entry in row] for row in rows],
        equal_nan=True,
    )


STORED = stored(np.array([0.75, 0.25, 0.5]))


@pytest.mark.landing
@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, len(STORED) - 1), st.integers(0, 255)), min_size=1, max_size=3
    ),
    st.booleans(),
)
def test_flipped_bytes_of_stored_numbers(
    tmp_path_factory: pytest.TempPathFactory, flips: list[tuple[int, int]], header: bool
) -> None:
    """All of the file is numbers, or it is refused; a header may be changed into that of other
    numbers in as many bytes."""
    data = bytearray(STORED)
    for at, value in flips:
        data[at % 128 if header else at] = value
    path = tmp_path_factory.getbasetemp() / "changed.npy"
    path.write_bytes(data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what NumPy says about old headers
        try:
            found = read_array(path)
        except ValueError:
            return
    assert found.size * np.dtype("f8").itemsize >= 24 or b"'<f8'" not in data
    assert found.dtype == np.float64


def test_files_on_the_command_line(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The option, the file, what is wrong and the remedy, in a line; integers in one row or column
    alone."""
    monkeypatch.chdir(tmp_path)
    np.save("c.npy", np.array([0.5 + 1j, 0.25]))
    Path("cut.txt").write_text("0.75,0.25#,0.5\n")
    Path("sizes.txt").write_text("1,1\n")
    Path("table.txt").write_text("1,1\n1,1\n")
    line = refused(capsys, "run --means c.npy --clusters 1,1 --required 1,0")
    assert (
        "--means c.npy cannot be used: it holds values of type complex128, which are no real "
        "numbers; give a text file" in line
    )
    assert "'0.25#'" in refused(capsys, "run --means @cut.txt --clusters 1,1 --required 1,0")
    assert "'0_9'" in refused(capsys, "run --means 0_9,0.5 --clusters 1,1 --required 1,0")
    assert document(capsys, "bounds --means 0.75,0.25 --clusters @sizes.txt --required 1,0")[
        "problem"
    ]["clusters"] == [1, 1]
    for words in ("1,1\\;1,1", "@table.txt"):
        line = refused(
            capsys, f"bounds --means 0.9,0.8,0.7,0.6 --clusters {words} --required 1,0,0,0"
        )
        assert "is a table of shape (2, 2); give one row of integers" in line


STUDY = """algorithms = ["vanilla"]
delta = 0.1
replications = 40
[[instances]]
name = "text Å"
means = "means[1].txt"
clusters = [1, 1]
required = [1, 0]
"""


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (STUDY.encode("utf-16"), "it is no text in UTF-8: byte 0xff at 0"),
        (STUDY.encode("latin-1"), "it is no text in UTF-8: byte 0xc5"),
        (STUDY.replace("\n", "\r").encode(), "Illegal character '\\\\r'|line 1"),
        (STUDY.encode() + b"\0", "Illegal character|Invalid"),
        (STUDY.encode() + b"]", "line 9"),
        (
            STUDY.replace("delta = 0.1", "delta = 0.1\ndelta = 0.2").encode(),
            "Cannot overwrite a value",
        ),
    ],
)
def test_studies_that_are_no_toml(data: bytes, said: str, tmp_path: Path) -> None:
    """Named as such, with the place."""
    path = tmp_path / "study.toml"
    path.write_bytes(data)
    with pytest.raises(
        StudyFileError, match=rf"study\.toml' is no TOML that can be read: .*({said})"
    ):
        Study.from_toml(path)


def test_text_is_bounded(tmp_path: Path) -> None:
    """A device without end is not read for ever."""
    (tmp_path / "a").write_bytes(b"12345")
    assert read_text(tmp_path / "a", 5) == "12345"
    with pytest.raises(ValueError, match="it holds more than 4 bytes"):
        read_text(tmp_path / "a", 4)
    with pytest.raises(ValueError, match="it holds more than 1,000 bytes"):
        read_text(Path("/dev/zero"), 1000)


NAMES = [
    "gaps[1].study",
    "run 1*",
    "a?b",
    "{a,b}",
    "~",
    "k=2",
    "file:x",
    "%41",
    "**",
    os.fsdecode(b"\xff"),
]


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with two stores of either kind, of replications with seeds 1 and 2."""
    folder = tmp_path_factory.mktemp("stores")
    for keep in ("replications", "aggregates"):
        for seed in (1, 2):
            study = Study.grid(
                [rai.table_problem()], [rai.Vanilla()], [0.1], replications=40, seed=seed, keep=keep
            )
            study.run(folder / f"{keep} {seed}")
    return folder


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("keep", ["replications", "aggregates"])
def test_stores_in_folders_of_any_name(
    name: str, keep: str, stores: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows, sums and verification are those of that folder, though its name read as a pattern
    matches others."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(stores / f"{keep} 1", name)
    for sibling in ("gaps1.study", "run 10", "axb", "a", "b", "A", "x"):
        shutil.copytree(stores / f"{keep} 2", sibling)
    results, expected = open_study(name), open_study(stores / f"{keep} 1")
    assert results.summary().equals(expected.summary())
    assert results.verify(sample=7, seed=0) == Verification(40 if keep == "aggregates" else 7, ())
    if keep == "replications":
        rows = results.rows().sort("replication").collect()
        assert rows["replication"].to_list() == list(range(40))
        assert rows.equals(expected.rows().sort("replication").collect())


@pytest.mark.parametrize(
    "text", [b"[" * 100_000, BOM + b"{}", b"\xff", b"[]", b"null", b'{"started": 1}', b"{}{}"]
)
def test_records_that_are_no_json(text: bytes, stores: Path, tmp_path: Path) -> None:
    """A run's is passed over with a warning; the store's own is an error that says what to do."""
    shutil.copytree(stores / "replications 1", tmp_path / "store")
    (tmp_path / "store" / "run-x.json").write_bytes(text)
    (tmp_path / "store" / "run-y.json").mkdir()
    with pytest.warns(
        StoreWarning, match=r"run-[xy]\.json is passed over: it is no record of a run"
    ) as said:
        assert len(open_study(tmp_path / "store").runs()) == 1
    assert len(said) == 2
    (tmp_path / "store" / "rai-sim-store.json").write_bytes(text)
    with pytest.raises(
        StoreError, match=r"has a damaged rai-sim-store\.json; restore it from a copy"
    ):
        open_study(tmp_path / "store")


@pytest.mark.landing
def test_a_study_in_a_folder_with_brackets_from_end_to_end(tmp_path: Path, capsys: Capture) -> None:
    """Run, verified, drawn and reported on the command line, its file with a byte order mark and
    its means beside one of a like name."""
    file = tmp_path / "gaps[1].toml"
    file.write_bytes(BOM + STUDY.replace("\n", "\r\n").encode())
    (tmp_path / "means[1].txt").write_text("0.9\n0.1\n")
    (tmp_path / "means1.txt").write_text("0.2\n0.3\n")
    assert store_of(file) == tmp_path / "gaps[1].study"
    assert "40 of 40 replications" in printed(capsys, f"study '{file}'")
    assert "all are the same to the bit" in printed(capsys, f"study '{file}' --verify")
    run(f"report '{file}' -o '{tmp_path}/page[1].html'")
    page = (tmp_path / "page[1].html").read_text("utf-8")
    assert "text Å" in page
    assert "\ufeff" not in page
    run(f"plot '{tmp_path}/gaps[1].study' -o '{tmp_path}/figures[1]'")
    assert list((tmp_path / "figures[1]").iterdir())


def test_what_was_read_is_noted(tmp_path: Path) -> None:
    """Regular files, by any name, while that is asked for; the outermost asks for all."""
    (tmp_path / "a.txt").write_text("1\n")
    (tmp_path / "b.npy").write_bytes(stored(np.zeros(2)))
    (tmp_path / "link").symlink_to(tmp_path / "a.txt")
    read_text(tmp_path / "a.txt")
    with inputs_noted():
        assert not was_read(tmp_path / "a.txt")
        with inputs_noted():
            read_text(tmp_path / "a.txt")
            read_array(tmp_path / "b.npy")
        assert was_read(tmp_path / "link")
        assert was_read(tmp_path / "b.npy")
        assert not was_read(tmp_path / "c")
        assert not was_read(Path("a\0b"))
        with pytest.raises(OSError, match="No such file"):
            read_text(tmp_path / "c")
    assert not was_read(tmp_path / "a.txt")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"0.75\n0.25\n", "bounds --problem best_arm --means @PIPE"),
        (b"title,mean\nx,0.75\ny,0.25\n", "bounds --problem best_arm --means @PIPE"),
        (b"title,mean\nx,0.75\ny,0.25\n", "bounds --problem best_arm --means @PIPE --names title"),
    ],
)
def test_a_pipe_is_read_once(data: bytes, words: str, capsys: Capture) -> None:
    """It gives its content once, whatever is asked of it first; so do several readers of it."""
    end, other = os.pipe()
    os.write(other, data)
    os.close(other)
    try:
        means = document(capsys, words.replace("PIPE", f"/dev/fd/{end}"))["problem"]["means"]
    finally:
        os.close(end)
    assert means == [0.75, 0.25]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_a_sweep_reads_a_pipe_once(tmp_path: Path) -> None:
    """A study's instances have their means from one file."""
    end, other = os.pipe()
    os.write(other, b"0.75\n0.25\n")
    os.close(other)
    (tmp_path / "s.toml").write_text(
        f'algorithms = ["vanilla"]\n[[instances]]\nmeans = "/dev/fd/{end}"\nlaw = "gaussian"\n'
        'sd = [0.25, 0.5]\nproblem = "best_arm"\n'
    )
    try:
        tasks = Study.from_toml(tmp_path / "s.toml").tasks
    finally:
        os.close(end)
    assert [task.experiment.problem.arms.means.tolist() for task in tasks] == [[0.75, 0.25]] * 2
