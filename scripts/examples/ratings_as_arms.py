"""Ratings as arms: the best films by the stars that people gave them. Run it: python
scripts/examples/ratings_as_arms.py [MovieLens download]

The download is a folder, zip or file of any of MovieLens' sets; without one, a tiny set is made up.
"""

import random
import sys
import tempfile
from pathlib import Path

import rai_sim as rai
from rai_sim import movielens

TITLES = ["Alphaville (1965)", "Brazil (1985)", "Dune (1984)", "Solaris (1972)", "Stalker (1979)"]


def make_up(folder: Path, users: int = 400) -> Path:
    """Write ratings of five films by users who like the later ones better, in MovieLens' form."""
    draw = random.Random(0)
    movies = ["movieId,title,genres"] + [f"{k},{title},Sci-Fi" for k, title in enumerate(TITLES, 1)]
    ratings = ["userId,movieId,rating,timestamp"]
    for user in range(1, users + 1):
        for movie in range(1, len(TITLES) + 1):
            stars = min(5.0, max(0.5, round(2 * draw.gauss(1.0 + 0.7 * movie, 0.8)) / 2))
            ratings.append(f"{user},{movie},{stars},0")
    (folder / "movies.csv").write_text("\n".join(movies) + "\n", encoding="utf-8")
    (folder / "ratings.csv").write_text("\n".join(ratings) + "\n", encoding="utf-8")
    return folder


def main(path: str | Path, films: int = 5, k: int = 2, replications: int = 1000) -> rai.Result:
    """Name the best films; a pull is the rating of a random user, over five stars."""
    arms = movielens.load(path, top=films)  # the most rated
    for arm, mean in enumerate(arms.means):
        print(f"{5 * mean:5.2f} stars  {arms.name(arm)}")
    problem = rai.top(arms, k)
    result = rai.simulate(problem, rai.Vanilla(), delta=0.01, replications=replications, seed=0)
    print(result.summary())
    print(result.named())
    return result


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(sys.argv[1], films=20, k=4, replications=100)
    else:
        with tempfile.TemporaryDirectory() as temporary:
            main(make_up(Path(temporary)))
