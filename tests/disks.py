"""Disks that are full soon, for tests of what is written."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def small_disk(place: Path, kibibytes: int) -> Iterator[Path]:
    """Mount a file system of a few KiB for a while; where that is not allowed, skip the test."""
    place.mkdir()
    size = f"size={kibibytes}k"
    mount = ["mount", "-t", "tmpfs", "-o", size, "tmpfs", str(place)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("no right to mount a file system")
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)
