"""Which pairs of arms a round robin must not judge the wrong way round: what its widths of pairs
share delta among."""

from __future__ import annotations

from collections.abc import Sequence


def pairs_to_order(clusters: Sequence[int], required: Sequence[int], merging: bool) -> int:
    """Return P, the number of pairs of arms in different clusters, those counted as one that are
    merged from the start.

    With merging, neighbours of which no arm is asked are one cluster: who of them is better does
    not matter. A width at which no pair of P ever beats the better one of the two, but for
    probability delta, makes a round robin delta-PC. *Proof.* Let E be that no pair is ever judged
    against its true order. On E, by induction over the arms in the order in which they are settled,
    each cluster's count of active arms is right, those merged from the start taken together. Let a
    of cluster i' be the first arm settled in another one, say i > i' (the other case is its mirror
    image). All active arms that are ranked before i's, as many as the active arms of the clusters
    before i, beat a; none of them is of a cluster after i', as on E such an arm never beats a. So
    they and a itself are all of clusters up to i' <= i - 1: one more than are active there. (In round
    1 clusters are not merged yet: to be settled in a part of one, a is beaten by no fewer.) Later
    merges only join clusters of which nothing more is asked, so an arm may be settled in a neighbour
    of its own that names nobody. []

    Parameters
    ----------
    clusters, required : sequences of m int
        c and r.
    merging : bool
        Whether clusters are merged.

    Returns
    -------
    int
        P; 1 for a lone cluster, which has no pairs, but whose arms are settled at once.

    Examples
    --------
    >>> pairs_to_order((1, 9), (1, 0), True), pairs_to_order((3, 3, 4), (3, 0, 0), True)
    (9, 21)
    >>> pairs_to_order((3, 3, 4), (3, 0, 0), False)
    33
    """
    groups: list[int] = []
    joins = False  # whether the last cluster may take another one in
    for size, asked in zip(clusters, required, strict=True):
        quiet = merging and asked == 0
        if joins and quiet:
            groups[-1] += size
        else:
            groups.append(size)
        joins = quiet
    n = sum(groups)
    return max((n * n - sum(size * size for size in groups)) // 2, 1)
