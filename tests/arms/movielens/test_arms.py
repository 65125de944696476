"""MovieLens files as arms: every format alike, and nothing wrong read in silence."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ratings import csv

import rai_sim as rai
from rai_sim.arms import movielens
from rai_sim.arms.movielens import MovieLensError

SHARED = Path(__file__).parents[4] / "shared" / "movielens"
needs_shared = pytest.mark.skipif(
    not SHARED.is_dir(), reason="the MovieLens sets for tests are not beside the checkout"
)


def test_scales(tmp_path: Path) -> None:
    """min-max maps the worst rating of the whole set, not of the chosen movies, to 0."""
    (tmp_path / "ratings.csv").write_text(csv())
    arms = movielens.load(tmp_path, top=2, scale="min-max")
    assert arms.values.tolist() == [0.5, 0.75, 1.0]
    assert movielens.load(tmp_path, top=2).values.tolist() == [0.6, 0.8, 1.0]
    with pytest.raises(ValueError, match="scale is 'stars'; choose one of 'stars/5', 'min-max'"):
        movielens.load(tmp_path, top=2, scale="stars")
    several: Any = np.array(["stars/5", "min-max"])
    with pytest.raises(ValueError, match=r"scale is array\(.*; choose one of"):
        movielens.load(tmp_path, top=2, scale=several)
    for load in (movielens.load, movielens.counts, movielens.load_means):
        with pytest.raises(ValueError, match="path is '', which names nothing"):
            load("")
    # before any file is read
    with pytest.raises(ValueError, match="scale is 'stars'; choose one of"):
        movielens.load(tmp_path / "none", top=2, scale="stars")
    (tmp_path / "ratings.csv").write_text(csv(rows=[(1, 10, 3.0), (2, 10, 3.0)]))
    with pytest.raises(MovieLensError, match="every rating is 3 stars, which min-max cannot scale"):
        movielens.load(tmp_path, top=1, scale="min-max")


@pytest.mark.landing
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
            "line 2: .*'mean_stars': 5.5} is no movie with an id of its own",
        ),
        ("movie_id,ratings,mean\n1,2,1.5\n", "rating, a mean from 0 to 1; mend or remove the line"),
        ("movie_id,ratings,mean_stars\n1,2,5\n1,3,4\n", "line 3: .*'ratings': 3.*of its own"),
        (
            "movie_id,ratings,mean,title\n1,2,0.5,A\n2,3,0.4,\n",
            "line 3: .*, and a title; mend or remove the line",
        ),
        ("movie_id,ratings,mean\n1,2,0.5\n2,10.0,0.4\n", "line 3, ratings is '10.0', no integer"),
        ("movie_id,ratings,mean\n1,2,0.5\n2,10,x\n", "line 3, mean is 'x', no number"),
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


def test_synthetic_arms_are_not_too_many() -> None:
    """Refused at once, not made for hours."""
    with pytest.raises(ValueError, match="n is 1000000000; it must be at most 1000000, ten"):
        movielens.like(10**9)


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
