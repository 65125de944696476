"""Where the command line writes to, and what it says when it cannot."""

import io
import os
import re
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from command_line import ROOT, Capture, printed, refused, run
from disks import small_disk

from rai_sim.support.exports import write_table


@pytest.fixture
def file(formula: Path) -> Path:
    """Return the file of the study that these tests are about."""
    return formula


# Links, devices, standard output
# --------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_every_command_follows_links(file: Path, tmp_path: Path, capsys: Capture) -> None:
    """A link to a file, and one to a file or folder that is not there yet, stay links."""
    (tmp_path / "old.html").write_text("old")
    (tmp_path / "page.html").symlink_to("old.html")
    (tmp_path / "t.png").symlink_to("new.png")
    (tmp_path / "s.csv").symlink_to("new.csv")
    (tmp_path / "figures").symlink_to("drawn")
    printed(capsys, f"report '{file}' -o '{tmp_path}/page.html'")
    printed(capsys, f"trace --table-task 1 --algorithm butterscotch --plot '{tmp_path}/t.png'")
    printed(capsys, f"study '{file}' --output '{tmp_path}/s.csv'")
    lines = printed(capsys, f"plot '{file}' -o '{tmp_path}/figures'").splitlines()
    assert all(
        (tmp_path / name).is_symlink() for name in ("page.html", "t.png", "s.csv", "figures")
    )
    assert (tmp_path / "old.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert (tmp_path / "new.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "new.csv").read_text(encoding="utf-8").count("\n") == 3
    assert len(lines) == len(list((tmp_path / "drawn").iterdir())) > 0
    assert lines[0].startswith(f"{tmp_path}/figures/")


@pytest.mark.slow
def test_devices_stay_devices(file: Path, tmp_path: Path, capsys: Capture) -> None:
    """As root, too, for whom nothing is forbidden."""
    (tmp_path / "null.png").symlink_to("/dev/null")
    (tmp_path / "null.parquet").symlink_to("/dev/null")
    printed(capsys, f"report '{file}' -o /dev/null")
    printed(capsys, f"trace --table-task 1 --algorithm butterscotch --plot '{tmp_path}/null.png'")
    printed(capsys, f"study '{file}' --output '{tmp_path}/null.parquet'")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    assert "No space left on device; free space, or give another place" in refused(
        capsys, f"report '{file}' -o /dev/full"
    )
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)


@pytest.mark.landing
def test_a_page_on_standard_output_is_the_page_alone(file: Path, tmp_path: Path) -> None:
    """Its name is not printed behind it."""
    command = [sys.executable, "-m", "rai_sim", "report", str(file), "-o", "/dev/stdout"]
    command += ["--select", "delta=0.1"]
    with (tmp_path / "page.html").open("wb") as page:
        subprocess.run(command, cwd=ROOT, stdout=page, check=True)
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>")
    assert text.rstrip().endswith("</html>")


@pytest.mark.slow
def test_a_table_is_written_whatever_becomes_of_what_is_shown(file: Path, tmp_path: Path) -> None:
    """The reader of standard output has left, or its disk is full: the file that was asked for is
    there all the same."""
    command = [sys.executable, "-m", "rai_sim", "study", str(file), "--output"]
    with subprocess.Popen(
        [*command, str(tmp_path / "s.csv")],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        process.stdout.close()
        _, err = process.communicate()
    assert (process.returncode, err) == (0, b"")
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*command, str(tmp_path / "t.csv")],
            cwd=ROOT,
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert done.returncode == 2
    assert (
        done.stderr
        == b"rai-sim: standard output: No space left on device; free space, or give another place\n"
    )
    assert (tmp_path / "s.csv").read_bytes() == (tmp_path / "t.csv").read_bytes()
    assert len(pl.read_csv(tmp_path / "s.csv")) == 2


@pytest.mark.parametrize(
    ("link", "target", "words", "said"),
    [
        (
            "s.csv",
            "two.toml",
            "study FILE --output LINK",
            "is a file that is read here; give another name",
        ),
        ("s.csv", "two.study/s.csv", "study FILE --output LINK", "lies among the study's results"),
        ("deep", "two.study", "study FILE --output LINK/s.csv", "lies among the study's results"),
        (
            "p.html",
            "two.study/p.html",
            "report FILE -o LINK",
            "lies among the study's results",
        ),
        (
            "p.html",
            "two.toml",
            "report FILE -o LINK",
            "is a file that is read here; give another name",
        ),
        ("figures", "two.study", "plot FILE -o LINK", "lies among the study's results"),
        (
            "p.html",
            "nowhere/p.html",
            "report FILE -o LINK",
            "there is no folder {}/nowhere; make it first",
        ),
        (
            "s.csv",
            "nowhere/s.csv",
            "study FILE --output LINK",
            "there is no folder {}/nowhere; make it first",
        ),
        (
            "t.svg",
            "nowhere/t.svg",
            "trace --plot LINK",
            "there is no folder {}/nowhere; make it first",
        ),
    ],
)
def test_a_link_is_judged_by_where_it_leads(
    link: str, target: str, words: str, said: str, file: Path, tmp_path: Path, capsys: Capture
) -> None:
    """What is written through a link must not harm a study either; nothing is changed."""
    (tmp_path / link).symlink_to(target)
    before = {path: path.lstat().st_mtime_ns for path in tmp_path.rglob("*")}
    words = words.replace("FILE", f"'{file}'").replace("LINK", str(tmp_path / link))
    assert said.format(tmp_path.resolve()) in refused(capsys, words)
    assert {path: path.lstat().st_mtime_ns for path in tmp_path.rglob("*")} == before


# Disks
# --------------------------------------------------------------------------------------------------


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """Return a file system of 4 KiB, where one can be mounted."""
    with small_disk(tmp_path / "disk", 4) as place:
        yield place


COMMANDS = {
    "t.png": "trace --table-task 1 --algorithm butterscotch --plot PLACE/t.png",
    "p.html": "report FILE -o PLACE/p.html",
    "figures": "plot FILE -o PLACE/figures",
}


@pytest.mark.slow
def test_full_and_read_only_disks_are_one_line(disk: Path, file: Path, capsys: Capture) -> None:
    """The asked name, the reason and the remedy; nothing is left behind."""
    for name, words in COMMANDS.items():
        line = refused(capsys, words.replace("FILE", f"'{file}'").replace("PLACE", str(disk)))
        assert re.fullmatch(
            rf"rai-sim: {disk}/{name}\S*: No space left on device; free space, or give another "
            r"place\n",
            line,
        )
        assert [path for path in disk.rglob("*") if path.is_file()] == []
    many = pl.DataFrame({"x": list(range(100_000))})
    for kind in ("csv", "parquet"):
        with pytest.raises(OSError, match=rf"No space left on device: '{disk}/s\.{kind}'"):
            write_table(many, disk / f"s.{kind}")
    (disk / "figures").rmdir()
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    for name, words in COMMANDS.items():
        line = refused(capsys, words.replace("FILE", f"'{file}'").replace("PLACE", str(disk)))
        assert (
            line == f"rai-sim: {disk}/{name}: Read-only file system; change permissions, or give "
            "another place\n"
        )
    run(f"study '{file}' --output '{disk}/s.csv'", expect=2)
    captured = capsys.readouterr()
    assert "40 of 40 replications" in captured.out  # what was done is shown all the same
    assert (
        captured.err
        == f"rai-sim: {disk}/s.csv: Read-only file system; change permissions, or give another "
        "place\n"
    )
    assert list(disk.iterdir()) == []


def test_a_folder_without_permission(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The name that was asked for, not that of the temporary."""
    real = os.open

    def closed(name: Any, *rest: Any, **more: Any) -> int:
        if str(name).startswith(str(tmp_path)):
            raise PermissionError(13, "Permission denied", name)
        return real(name, *rest, **more)

    monkeypatch.setattr(os, "open", closed)
    line = refused(
        capsys, f"trace --table-task 1 --algorithm butterscotch --plot '{tmp_path}/t.png'"
    )
    assert (
        line
        == f"rai-sim: {tmp_path}/t.png: Permission denied; change permissions, or give another "
        "place\n"
    )


# Standard output and error of any encoding
# --------------------------------------------------------------------------------------------------


def stream(encoding: str) -> io.TextIOWrapper:
    """Return a stream as Python makes one for standard output."""
    return io.TextIOWrapper(io.BytesIO(), encoding=encoding, errors="strict")


@pytest.mark.landing
@pytest.mark.parametrize(
    "encoding",
    [
        "ascii",
        *(pytest.param(one, marks=pytest.mark.slow) for one in ("cp1252", "latin-1", "utf-8")),
    ],
)
def test_no_letter_ends_a_command(
    encoding: str, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All figures are drawn and told; names, titles and warnings that the encoding lacks come as
    question marks."""
    out, err = stream(encoding), stream(encoding)
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    (tmp_path / "two.study" / "replications-δ→.parquet").write_bytes(b"")
    run(f"plot '{file}' -o '{tmp_path}/δ→'")
    run(f"study '{file}' --progress")
    run(f"study '{file}' --dry-run")
    run(f"report '{file}' -o '{tmp_path}/→.html' --select delta=0.1")
    run(f"trace --plot '{tmp_path}/→/x.png'", expect=2)
    out.flush()
    err.flush()
    text, said = (one.buffer.getvalue().decode(encoding) for one in (out, err))  # type: ignore[attr-defined]
    lines = text.splitlines()
    delta_, arrow = (letter.encode(encoding, "replace").decode(encoding) for letter in "δ→")
    drawn = list((tmp_path / "δ→").iterdir())
    assert (
        [line.startswith(f"{tmp_path}/{delta_}{arrow}/") for line in lines].count(True)
        == len(drawn)
        > 0
    )
    assert f"=1+1, two arms with {delta_} {arrow} 0" in text
    assert lines[-1] == f"{tmp_path}/{arrow}.html"
    assert f"replications-{delta_}{arrow}.parquet is " in said
    assert said.endswith(f"there is no folder {tmp_path}/{arrow}; make it first\n")


@pytest.mark.landing
@pytest.mark.parametrize("encoding", ["ascii", pytest.param("cp1252", marks=pytest.mark.slow)])
def test_the_process_itself(encoding: str, file: Path, tmp_path: Path) -> None:
    """As PYTHONIOENCODING, or a code page, has it."""
    command = [sys.executable, "-m", "rai_sim", "study", str(file), "--dry-run"]
    done = subprocess.run(
        command,
        cwd=ROOT,
        capture_output=True,
        env=dict(os.environ, PYTHONIOENCODING=encoding),
        check=True,
    )
    assert b"=1+1, two arms with ? ? 0" in done.stdout
    assert done.stderr == b""
