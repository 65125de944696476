"""Means and names from files with a header."""

from pathlib import Path

import numpy as np
import pytest

from rai_sim.support.errors import ArgumentValueError
from rai_sim.support.named_means import has_header, means_in, read_means

FILMS = 'title,year,stars\n"Solaris, 1972",1972,0.78\nStalker,1979,0.85\n\nMirror,1975,7e-1\n'


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a file of films."""
    path = tmp_path / "films.csv"
    path.write_text(FILMS)
    return path


def test_columns_by_name(file: Path) -> None:
    """Cells with commas in quotes; empty lines are passed over."""
    found = read_means(file, "stars", "title")
    assert found.values.tolist() == [0.78, 0.85, 0.7]
    assert found.values.dtype == np.float64
    assert found.names == ("Solaris, 1972", "Stalker", "Mirror")
    assert read_means(file, "stars").names is None
    assert read_means(file, "stars", "year").names == ("1972", "1979", "1975")


@pytest.mark.parametrize(
    "text",
    [
        "name;mean\nA, B;0.5\n  C ;0.25\n",
        "name\tmean\nA, B\t0.5\nC\t0.25\n",
        '# of 2024\n\nname,mean\n"A, B",0.5\nC,0.25\n',
        '\ufeffmean,name\r\n0.5,"A, B"\r\n.25,C\r\n',
    ],
)
def test_other_spellings(file: Path, text: str) -> None:
    """Semicolons, tabs, comments before the header, byte order marks; but one column of numbers
    needs no name."""
    file.write_bytes(text.encode())
    found = read_means(file, names="name")
    assert (found.values.tolist(), found.names) == ([0.5, 0.25], ("A, B", "C"))
    assert read_means(file).values.tolist() == [0.5, 0.25]


REFUSED = {
    (FILMS, None, "title"): ("column", "several columns of numbers: 'year', 'stars'; name that of"),
    (FILMS, "star", None): (
        "column",
        "column is 'star', but .* did you mean stars.* it has 'title'",
    ),
    (FILMS, "stars", "name"): ("names", "names is 'name', but .* has no such column; it has"),
    (FILMS, "title", None): (
        "means",
        "holds 'Solaris, 1972' in line 2, column 'title', which is no",
    ),
    ("a,b,a\n1,2,3\n", "a", None): ("column", "has 2 columns of that name: rename one"),
    ("a,b\n", None, None): ("means", "holds no rows below its header"),
    ("a,b\nx,y\n", None, None): ("means", "has no column of numbers alone among 'a', 'b'; mend it"),
    ("a;b\nx;0,5\ny;0,25\n", None, None): (
        "means",
        "alone among 'a', 'b': 'b' holds '0,5' in line 2; write decimal points, not commas, or name",
    ),
    ("a;b\nx;0,5\ny;0,25\n", "b", "a"): (
        "means",
        "holds '0,5' in line 2, column 'b', which is no number; write decimal points, not commas,",
    ),
    ("a,b\nx,1\ny,2\nz,n/a\n", None, None): (
        "means",
        "alone among 'a', 'b': 'b' holds 'n/a' in line 4; mend it",
    ),
    ("a,b\n1,x\n\n2\n", None, None): ("means", "has 1 cells in line 4, but its header has 2"),
    ("a,b\n1,x\nnan,y\n", "a", None): ("means", "holds 'nan' in line 3, column 'a', which is no"),
    ("a,b\n1,x\n1_0,y\n", "a", None): ("means", "holds '1_0' in line 3"),
    ("a,b\n1,x\n2,  \n", "a", "b"): ("names", "has no name in line 3, column 'b'; give one"),
    ('a,b\n1,"x\ny"\ninf,z\n', "a", "b"): ("means", "holds 'inf' in line 4"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_read(file: Path, case: tuple[str, str | None, str | None]) -> None:
    """The argument, the file, the line and the column are named."""
    text, column, names = case
    argument, said = REFUSED[case]
    file.write_text(text)
    with pytest.raises(ArgumentValueError, match=said) as caught:
        read_means(file, column, names)
    assert caught.value.argument == argument
    assert "films.csv" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "header"),
    [
        ("0.5\n0.2\n", False),
        ("mean\n0.2\n", True),
        ("nan\n0.5\n", False),
        ("0.5,abc\n", False),
        ("# means\n0.5\n", False),
        ("a,b\n", True),
        ("", False),
    ],
)
def test_headers_are_known_by_having_no_number(file: Path, text: str, header: bool) -> None:
    """Otherwise the file is one of numbers."""
    file.write_text(text)
    assert has_header(file) is header
    if not header:
        assert means_in(file) is None


def test_files_without_a_header_are_left_to_others(file: Path, tmp_path: Path) -> None:
    """As are files that cannot be read; but a column of what is no file is refused."""
    file.write_text("0.5\n0.25\n")
    assert means_in(file) is None
    assert means_in(tmp_path / "nowhere.csv", "a", "b") is None
    file.write_bytes(b"\xff\xfe")
    assert means_in(file) is None
    assert means_in(tmp_path / "a.npy") is None
    for argument, given in (("column", ("a", None)), ("names", (None, "a"))):
        for place in (None, tmp_path / "a.npy"):
            with pytest.raises(
                ArgumentValueError, match=f"{argument} is 'a', a column of"
            ) as caught:
                means_in(place, *given)
            assert caught.value.argument == argument
