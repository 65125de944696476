"""MovieLens ratings as arms: the most-rated movies, whose pulls are ratings of random users, scaled
to [0, 1].

No ratings come with the package: `load` reads the user's own download
(https://grouplens.org/datasets/movielens/), `like` makes synthetic arms of the same shape. F. M.
Harper and J. A. Konstan, The MovieLens Datasets: History and Context, ACM Transactions on
Interactive Intelligent Systems 5(4), 2015, doi 10.1145/2827872.

Files are told apart by their content:

latest, 32M, 25M, 20M, Kaggle's copies
    ratings: commas, a header with userId, movieId, rating;
    titles: commas, a header with movieId, title
10M, 1M
    ratings: ``user::movie::rating::time``; titles: ``movie::title::genres``
100K
    ratings: tabs: user, movie, rating, time; titles: ``movie|title|...``
HetRec 2011
    ratings: tabs, a header with userID, movieID, rating; titles: tabs, a header with id, title

They are read exactly or refused. Every line is one rating, one movie or the header, and has as many
fields as the first; lines end at line feeds, with or without a carriage return before; empty lines
may stand at the end alone. Text is UTF-8 if all of a file decodes as that, else Latin-1. Titles
come from the folder that the ratings lie in, and from the form that belongs to theirs.

Also read: header names in other spellings (user_id, MovieID), semicolons for commas (then a decimal
comma as well), the form of latest without its header but with all four fields, and files packed by
gzip. A file of ratings may hold 4 GB and 100 million ratings, one of titles or means 32 MB,
unpacked.
"""

from rai_sim.arms.movielens.arms import Counts, counts, like, load, load_means
from rai_sim.arms.movielens.files import MovieLensError, MovieLensWarning

__all__ = ["Counts", "MovieLensError", "MovieLensWarning", "counts", "like", "load", "load_means"]
