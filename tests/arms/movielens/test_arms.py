"""MovieLens files as arms: every format alike, and nothing wrong read in silence."""

import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import rai_sim as rai
from rai_sim.arms import movielens
from rai_sim.arms.movielens import MovieLensError, MovieLensWarning

SHARED = Path(__file__).parents[4] / "shared" / "movielens"
needs_shared = pytest.mark.skipif(
    not SHARED.is_dir(), reason="the MovieLens sets for tests are not beside the checkout"
)

#: user, movie, rating: movie 30 has three ratings, 10 and 20 two each, 40 one.
RATINGS = [
    (1, 10, 4.0),
    (1, 20, 2.0),
    (1, 30, 5.0),
    (2, 10, 3.0),
    (2, 30, 4.0),
    (3, 20, 1.0),
    (3, 30, 5.0),
    (3, 40, 4.0),
]
TITLES = {
    10: "Ten: the film (1990)",
    20: "Twenty, The (2000)",
    30: "Très bien (1995)",
    40: 'He said "forty" (2010)',
}


def csv(
    header: str = "userId,movieId,rating,timestamp",
    rows: list[tuple[int, int, float]] | None = None,
) -> str:
    """Return ratings as the sets since 20M have them."""
    return (
        header
        + "\n"
        + "".join(f"{user},{movie},{rating},964982703\n" for user, movie, rating in rows or RATINGS)
    )


def quoted(title: str) -> str:
    """Return a title as a field of a CSV file."""
    return '"' + title.replace('"', '""') + '"' if "," in title or '"' in title else title


def latest(folder: Path) -> Path:
    """Write the form of latest, 32M, 25M and 20M, with the files that lie beside."""
    (folder / "ratings.csv").write_text(csv())
    titles = "".join(f"{k},{quoted(t)},Drama|War\n" for k, t in TITLES.items())
    (folder / "movies.csv").write_text("movieId,title,genres\n" + titles, "utf-8")
    (folder / "tags.csv").write_text("userId,movieId,tag,timestamp\n1,10,7,1139045764\n")
    (folder / "links.csv").write_text("movieId,imdbId,tmdbId\n10,0114709,862\n")
    (folder / "genome-scores.csv").write_text("movieId,tagId,relevance\n10,1,0.025\n")
    (folder / "README.txt").write_text("Summary\n")
    return folder


def kaggle(folder: Path) -> Path:
    """Write the form of Kaggle's copy of 20M: other names, quotes, times as text."""
    rows = "".join(
        f'{user},{movie},{rating},"2005-04-02 23:53:47"\n' for user, movie, rating in RATINGS
    )
    (folder / "rating.csv").write_text('"userId","movieId","rating","timestamp"\n' + rows)
    (folder / "movie.csv").write_text(
        '"movieId","title","genres"\n'
        + "".join('{},"{}","Drama"\n'.format(k, t.replace('"', '""')) for k, t in TITLES.items()),
        "utf-8",
    )
    return folder


def colons(folder: Path) -> Path:
    """Write the form of 10M and 1M."""
    (folder / "ratings.dat").write_text(
        "".join(f"{user}::{movie}::{rating:g}::838985046\n" for user, movie, rating in RATINGS)
    )
    (folder / "movies.dat").write_text(
        "".join(f"{k}::{t}::Drama|War\n" for k, t in TITLES.items()), "latin-1"
    )
    (folder / "tags.dat").write_text("15::10::excellent!::1215184630\n")
    (folder / "users.dat").write_text("1::F::1::10::48067\n")
    return folder


def tabs(folder: Path) -> Path:
    """Write the form of 100K, with one of its splits beside the whole."""
    whole = "".join(f"{user}\t{movie}\t{rating:g}\t881250949\n" for user, movie, rating in RATINGS)
    (folder / "u.data").write_text(whole)
    (folder / "u1.base").write_text(whole[:60])
    (folder / "u.item").write_text(
        "".join(f"{k}|{t}|01-Jan-1995||http://x|0|1\n" for k, t in TITLES.items()), "latin-1"
    )
    (folder / "u.user").write_text("1|24|M|technician|85711\n")
    return folder


def hetrec(folder: Path) -> Path:
    """Write the form of HetRec 2011."""
    head = "userID\tmovieID\trating\tdate_day\tdate_month\tdate_year\tdate_hour\tdate_minute\tdate_second\n"
    (folder / "user_ratedmovies.dat").write_text(
        head + "".join(f"{u}\t{m}\t{r:g}\t29\t10\t2006\t23\t17\t16\n" for u, m, r in RATINGS)
    )
    (folder / "user_ratedmovies-timestamps.dat").write_text(
        "userID\tmovieID\trating\ttimestamp\n"
        + "".join(f"{u}\t{m}\t{r:g}\t1162160236000\n" for u, m, r in RATINGS)
    )
    titles = "".join(f"{k}\t{t}\t0114709\t{t}\n" for k, t in TITLES.items())
    (folder / "movies.dat").write_text("id\ttitle\timdbID\tspanishTitle\n" + titles, "latin-1")
    return folder


FORMS = (latest, kaggle, colons, tabs, hetrec)


def check(arms: rai.Categorical, titled: bool = True) -> None:
    """Compare with RATINGS, worked out by hand."""
    assert arms.ids == (30, 10, 20)
    assert arms.names == (
        tuple(TITLES[k] for k in arms.ids) if titled else ("movie 30", "movie 10", "movie 20")
    )
    assert arms.values.tolist() == [0.2, 0.4, 0.6, 0.8, 1.0]
    third, half = 1 / 3, 0.5
    assert arms.probabilities.tolist() == [
        [0, 0, 0, third, 2 * third],
        [0, 0, half, half, 0],
        [half, half, 0, 0, 0],
    ]
    assert arms.means == pytest.approx([14 / 15, 0.7, 0.3], rel=1e-15)


@pytest.mark.parametrize("form", FORMS)
def test_every_format_is_read_the_same(form: Callable[[Path], Path], tmp_path: Path) -> None:
    """As a folder, as a zip archive, and as the file of ratings, whatever its name."""
    folder = tmp_path / "ml-set"
    folder.mkdir()
    form(folder)
    check(movielens.load(folder, top=3))
    with zipfile.ZipFile(tmp_path / "set.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for file in folder.iterdir():
            archive.write(file, f"ml-set/{file.name}")
    check(movielens.load(tmp_path / "set.zip", top=3))
    usual = ("ratings.csv", "rating.csv", "ratings.dat", "u.data", "user_ratedmovies.dat")
    ratings = next(file for file in folder.iterdir() if file.name in usual)
    check(movielens.load(ratings, top=3))
    alone = tmp_path / "alone"
    alone.mkdir()
    ratings.rename(alone / "anything.txt")
    check(movielens.load(alone / "anything.txt", top=3), titled=False)
    check(movielens.load(str(alone), top=3), titled=False)


def test_byte_order_mark_and_line_ends(tmp_path: Path) -> None:
    """As spreadsheets write them."""
    path = tmp_path / "ratings.csv"
    path.write_bytes(b"\xef\xbb\xbf" + csv().replace("\n", "\r\n").encode())
    check(movielens.load(path, top=3), titled=False)


def test_scales(tmp_path: Path) -> None:
    """min-max maps the worst rating of the whole set, not of the chosen movies, to 0."""
    (tmp_path / "ratings.csv").write_text(csv())
    arms = movielens.load(tmp_path, top=2, scale="min-max")
    assert arms.values.tolist() == [0.5, 0.75, 1.0]
    assert movielens.load(tmp_path, top=2).values.tolist() == [0.6, 0.8, 1.0]
    with pytest.raises(ValueError, match="scale is 'stars'; choose one of 'stars/5', 'min-max'"):
        movielens.load(tmp_path, top=2, scale="stars")
    (tmp_path / "ratings.csv").write_text(csv(rows=[(1, 10, 3.0), (2, 10, 3.0)]))
    with pytest.raises(MovieLensError, match="every rating is 3 stars, which min-max cannot scale"):
        movielens.load(tmp_path, top=1, scale="min-max")


@needs_shared
def test_the_small_set_has_its_known_facts() -> None:
    """Counts, means and gaps as they stand in its description."""
    folder = SHARED / "ml-latest-small"
    table = movielens.counts(folder, top=50)
    arms = movielens.load(folder, top=50)
    assert table.ids[:3] == arms.ids[:3] == (356, 318, 296)  # type: ignore[index]
    assert table.ratings.sum(axis=1)[:3].tolist() == [329, 317, 307]
    assert arms.means[:3] == pytest.approx([0.832827, 0.885804, 0.839414], abs=5e-7)
    assert arms.names is not None
    assert arms.names[1] == "Shawshank Redemption, The (1994)"
    assert movielens.counts(folder, top=9724).ratings.sum() == 100_836
    with pytest.raises(
        MovieLensError,
        match=r"top is 9725 but .*ratings\.csv has ratings of 9,724 movies; ask for as many at most",
    ):
        movielens.counts(folder, top=9725)
    for n, gap in ((10, 5.7e-4), (20, 5.7e-4), (30, 5.7e-4), (40, 5.7e-4), (50, 1.0e-4)):
        assert rai.full_ranking(rai.Bernoulli(arms.means[:n])).arm_gaps.min() == pytest.approx(
            gap, rel=0.02
        )


@needs_shared
def test_the_means_of_the_large_set_have_their_known_facts() -> None:
    """Fifty movies, gaps as they stand in its description."""
    arms = movielens.load_means(SHARED / "ml-20m-top50.csv")
    assert arms.n_arms == 50
    assert arms.ids is not None
    assert arms.ids[:2] == (296, 356)
    assert arms.means[0] == pytest.approx(4.174231169217055 / 5, rel=1e-15)
    for n, gap in ((10, 5.7e-4), (20, 2.0e-4), (40, 2.0e-4), (50, 1.7e-5)):
        assert np.diff(np.sort(arms.means[:n])).min() == pytest.approx(gap, rel=0.03)
    assert movielens.load_means(SHARED / "ml-20m-top50.csv", top=10).ids == arms.ids[:10]


def test_ratings_of_unknown_movies_are_left_out_with_a_warning(tmp_path: Path) -> None:
    """A bogus row (user 999, movie 999999): known by the file of titles; without one it stays, and
    is at the end of the ranking."""
    latest(tmp_path)
    (tmp_path / "ratings.csv").write_text(csv(rows=[*RATINGS, (999, 999999, 5.0)]))
    said = "1 ratings of 1 movies that the file of titles does not have, such as movie 999999, are left out"
    with pytest.warns(MovieLensWarning, match=said):
        check(movielens.load(tmp_path, top=3))
    with (
        pytest.warns(MovieLensWarning),
        pytest.raises(MovieLensError, match=r"top is 5 but .* has ratings of 4 movies"),
    ):
        movielens.load(tmp_path, top=5)
    (tmp_path / "movies.csv").unlink()
    check(movielens.load(tmp_path, top=3), titled=False)
    assert movielens.load(tmp_path, top=5).ids == (30, 10, 20, 40, 999999)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            csv("userId,movieId,stars,timestamp"),
            r"ratings\.csv has no column rating but userid, movieid, stars, timestamp; give",
        ),
        (
            csv("user,movieId,rating,timestamp"),
            r"ratings\.csv has no column userid but user, movieid, rating, timestamp",
        ),
        (
            csv("user,movie,stars,timestamp"),
            r"holds no ratings in a form that MovieLens uses; give a MovieLens download",
        ),
        ("", r"is empty; give a MovieLens download"),
        (
            "userId,movieId,rating,timestamp\n",
            r"ratings\.csv holds no ratings; give a MovieLens download",
        ),
        (
            csv(rows=[*RATINGS, (4, 10, 7.5)]),
            r"rating 7\.5 of movie 10 by user 4 is no number of half stars .*, nor are 0 others",
        ),
        (csv(rows=[*RATINGS, (4, 10, 0.0)]), r"rating 0 of movie 10 by user 4"),
        (
            csv(rows=[*RATINGS, (4, 10, 3.7), (5, 10, -1.0)]),
            r"rating -1 of movie 10 by user 5 .* nor are 1 others",
        ),
        (csv(rows=[*RATINGS, (4, 10, float("nan"))]), r"rating nan of movie 10 by user 4"),
        (
            csv(rows=[*RATINGS, (1, 10, 2.0)]),
            r"user 1 has rated movie 10 more than once, and so 1 lines are too many; keep one",
        ),
        (
            csv(rows=[*RATINGS, (-3, 10, 2.0)]),
            r"user -3 is no id of MovieLens: those are positive integers",
        ),
        (csv(rows=[*RATINGS, (4, 0, 2.0)]), r"movie 0 is no id of MovieLens"),
        (csv(rows=[*RATINGS, (4, 2**31, 2.0)]), r"movie 2147483648 is no id of MovieLens"),
        (csv() + "4,10,,1\n", r"has 1 lines without user, movie or rating"),
        (csv() + "4\n", r"ratings\.csv (cannot be read|has 1 lines without)"),
        (csv() + "4,ten,3.0,1\n", r"ratings\.csv cannot be read: .*ten"),
        (csv() + "4,10,good,1\n", r"ratings\.csv cannot be read: .*good"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, text: str, message: str) -> None:
    """The file, what is wrong, what would do."""
    (tmp_path / "ratings.csv").write_text(text)
    for path in (tmp_path, tmp_path / "ratings.csv"):
        with pytest.raises(MovieLensError, match=message):
            movielens.load(path, top=2)


def test_bad_paths_and_archives(tmp_path: Path) -> None:
    """Missing, truncated, changed, without ratings, with several."""
    with pytest.raises(
        MovieLensError,
        match="none cannot be read: No such file or directory; give a MovieLens download",
    ):
        movielens.load(tmp_path / "none")
    folder = tmp_path / "set"
    folder.mkdir()
    latest(folder)
    archive = tmp_path / "set.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        packed.write(folder / "ratings.csv", "ratings.csv")
    data = archive.read_bytes()
    archive.write_bytes(data[:-30])
    with pytest.raises(
        MovieLensError, match=r"set\.zip is a damaged zip archive; download it again"
    ):
        movielens.load(archive, top=2)
    place = data.index(b"964982703")
    archive.write_bytes(data[:place] + b"964982704" + data[place + 9 :])
    with pytest.raises(
        MovieLensError,
        match=r"set\.zip is a damaged zip archive \(Bad CRC-32.*\); download it again",
    ):
        movielens.load(archive, top=2)
    (folder / "ratings.csv").unlink()
    with pytest.raises(MovieLensError, match="holds no ratings in a form that MovieLens uses"):
        movielens.load(folder, top=2)
    for name in ("a.csv", "b.csv"):
        (folder / name).write_text(csv())
    with pytest.raises(
        MovieLensError,
        match=r"holds several files of ratings \(.*a\.csv, .*b\.csv\); name the one to read",
    ):
        movielens.load(folder, top=2)
    with pytest.raises(ValueError, match="top is 0; it must be at least 1"):
        movielens.load(folder / "a.csv", top=0)
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(MovieLensError, match="empty is empty; give a MovieLens download"):
        movielens.load(empty)


def test_tied_means_across_a_border_are_refused(tmp_path: Path) -> None:
    """Also where means are equal on paper and differ in the last digit: 4.5 stars of two ratings
    and of three."""
    rows = [(user, 20, stars) for user, stars in enumerate((4.0, 4.5, 5.0), 1)] + [
        (1, 10, 4.5),
        (2, 10, 4.5),
        (1, 30, 1.0),
    ]
    (tmp_path / "ratings.csv").write_text(csv(rows=rows))
    arms = movielens.load(tmp_path, top=3)
    assert arms.means[0] != arms.means[1]
    for kind in (rai.full_ranking, rai.best_arm):
        with pytest.raises(ValueError, match=r"are undefined: arms \d and \d tie at mean 0\.9"):
            kind(arms)
    assert rai.top(arms, 2).required == (2, 0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("movie_id,ratings\n1,2\n", "has no column mean_stars but movie_id, ratings"),
        ("movie_id,mean\n1,0.2\n", "has no column ratings but movie_id, mean"),
        (
            "movie_id,ratings,mean_stars\n1,2,5.5\n",
            "'mean_stars': 5.5} is no movie with an id of its own",
        ),
        ("movie_id,ratings,mean\n1,2,1.5\n", "and a mean from 0 to 1; mend or remove the line"),
        ("movie_id,ratings,mean_stars\n1,2,5\n1,3,4\n", "is no movie with an id of its own"),
        ("movie_id,ratings,mean_stars\n1,,5\n", "'ratings': None"),
        ("movie_id,ratings,mean_stars\n1,0,5\n", "at least one rating"),
        ("movie_id,ratings,mean_stars\n1,x,5\n", "cannot be read: .*; it must be comma-separated"),
        ("", "cannot be read: .*; it must be comma-separated"),
        ("movie_id,ratings,mean_stars\n", "top is 0 but .* has 0 movies"),
    ],
)
def test_bad_tables_of_means(tmp_path: Path, text: str, message: str) -> None:
    """Named as everywhere."""
    path = tmp_path / "means.csv"
    path.write_text(text)
    with pytest.raises(MovieLensError, match=message):
        movielens.load_means(path)
    with pytest.raises(MovieLensError, match=r"none\.csv cannot be read: No such file"):
        movielens.load_means(tmp_path / "none.csv")


def test_means_with_titles_are_ordered(tmp_path: Path) -> None:
    """By ratings, ties to the smaller id."""
    path = tmp_path / "means.csv"
    path.write_text("title,movie_id,ratings,mean\nC,3,10,0.25\nA,1,10,0.5\nB,2,30,0.75\n")
    arms = movielens.load_means(path)
    assert (arms.names, arms.ids, arms.means.tolist()) == (
        ("B", "A", "C"),
        (2, 1, 3),
        [0.75, 0.5, 0.25],
    )
    with pytest.raises(MovieLensError, match=r"top is 4 but .* has 3 movies"):
        movielens.load_means(path, top=4)


def test_synthetic_arms_have_their_shape() -> None:
    """A function of (n, seed), longer ones beginning like shorter ones; rating-shaped; simulated to
    the right answer."""
    arms = movielens.like(40)
    assert np.array_equal(arms.probabilities[:7], movielens.like(7).probabilities)
    assert not np.array_equal(arms.probabilities, movielens.like(40, seed=1).probabilities)
    assert arms.names is not None
    assert all(name.startswith("synthetic movie ") for name in arms.names)
    assert 0.65 < arms.means.mean() < 0.8
    assert 0.03 < arms.means.std() < 0.15
    assert (
        arms.probabilities[:, 1::2].sum(axis=1) > 0.55
    ).all()  # whole stars are given more often
    assert len(set(arms.means.tolist())) == 40
    result = rai.simulate(
        rai.top(movielens.like(6), 2), rai.Vanilla(), delta=0.1, replications=50, seed=1
    )
    assert result.correct.mean() > 0.9
