"""Uniting stores: what parts of a study have written, each into a folder of its own, in one.

Files of results are named by their content, so most are copied as they are, with what they say of
the run that made them. What two stores both hold is compared, and kept once.
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from rai_sim.study.interrupts import Interrupts
from rai_sim.study.opening import open_study
from rai_sim.study.results import StudyResults
from rai_sim.study.store import Store, StoreError
from rai_sim.study.union import Source, cut_of, forget, united
from rai_sim.support.files import flush_folder, remedy_of, write_atomically
from rai_sim.support.forks import refuse_forked_polars
from rai_sim.support.values import entries, path_of


def merge_studies(
    sources: Iterable[str | os.PathLike[str]], folder: str | os.PathLike[str]
) -> StudyResults:
    """Unite what several folders hold of studies, in a new folder: each replication once.

    Parameters
    ----------
    sources : iterable of path
        The folders, such as those of a study's parts (`Study.run`). Nothing in them is changed.
    folder : path
        The new one, or an empty one. It is there when all of it is.

    Returns
    -------
    StudyResults
        Of everything in the new folder, as `open_study` returns it; a study goes on from there.

    Raises
    ------
    StoreError
        An OSError: a folder is no store, or keeps other things than the first one, the new one is
        not empty or cannot be written; or two folders have other numbers for the same replication
        of a task, which the message names, with both. Nothing is written then.
    StudyInterrupted
        On Ctrl-C while the new folder is opened; before, a KeyboardInterrupt, with nothing written.

    Notes
    -----
    Where sums alone are kept, sums of the same replications must be equal; of sums that overlap
    otherwise those of the longer range from an earlier replication on are kept, and the sums within
    it must fit in. What is lost so, as sums cannot be cut, is run again when the study is.

    Examples
    --------
    >>> import tempfile
    >>> import rai_sim as rai
    >>> study = rai.Study.grid([rai.table_problem()], [rai.Vanilla()], [0.01], replications=100)
    >>> place = Path(tempfile.mkdtemp())
    >>> parts = [study.run(place / f"part-{k}", part=(k, 3)).folder for k in (1, 2, 3)]
    >>> rai.merge_studies(parts, place / "whole").progress()
    (100, 100)
    >>> study.results(place / "whole").summary().equals(study.run(place / "alone").summary())
    True
    """
    refuse_forked_polars("merge_studies")
    places = [path_of("sources", one) for one in entries("sources", sources, "folders", "folder")]
    target = path_of("folder", folder)
    _check_target(target, places)
    with Interrupts() as interrupts, interrupts.held():
        stores = [Store(place, None, interrupts.heed) for place in places]
        for store in stores[1:]:
            if store.keep != stores[0].keep:
                raise StoreError(
                    f"store {store.folder} keeps {store.keep}, but {stores[0].folder} keeps "
                    f"{stores[0].keep}; merge folders that keep the same"
                )
        _write(target, stores, united(stores), interrupts.heed)
    return open_study(target)


def _check_target(target: Path, sources: Sequence[Path]) -> None:
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise StoreError(
            f"{target} is there already; give the name of a new folder, or of an empty one, for "
            "what is merged"
        )
    for source in sources:
        if source.resolve() in target.resolve().parents:
            raise StoreError(
                f"{target} lies within {source}, which is to be merged; give another folder"
            )


# Writing
# --------------------------------------------------------------------------------------------------


def _write(
    target: Path, stores: Sequence[Store], parts: Sequence[Source], heed: Callable[[], None]
) -> None:
    """Make the new store under a temporary name, and rename it."""
    place = Path(os.path.realpath(target))
    temporary = place.with_name(f".{place.name[:40]}.{secrets.token_hex(8)}.merging")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        new = Store(temporary, stores[0].keep)
        for part in parts:
            heed()
            if part.taken is None:
                _copy(part.path, temporary)
            else:
                frame = cut_of(part)
                new.write(part.path.name.partition("-")[0], frame, part.store.about(part.path))
        for path in _records(stores):
            heed()
            _copy(path, temporary)
        (temporary / ".lock").unlink(missing_ok=True)
        os.rename(temporary, place)
        flush_folder(place.parent)
    except OSError as error:
        if isinstance(error, StoreError):
            raise
        raise StoreError(
            f"{target} cannot be written: {error.strerror or error}; "
            f"{remedy_of(error) or 'mend that'} or give another folder, then merge again: nothing was "
            "changed"
        ) from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
        forget()


def _copy(path: Path, folder: Path) -> None:
    data = path.read_bytes()
    write_atomically(folder / path.name, lambda file: file.write(data))


def _records(stores: Sequence[Store]) -> list[Path]:
    """Return the records of runs; of one that was copied while it ran that which tells of its
    end."""
    found: dict[str, Path] = {}
    for store in stores:
        for path in sorted(store.folder.glob("run-*.json")):
            with suppress(OSError):
                before = found.get(path.name)
                if before is None or _ended(path) > _ended(before):
                    found[path.name] = path
    return list(found.values())


def _ended(path: Path) -> bool:
    return b'"status": "running"' not in path.read_bytes()
