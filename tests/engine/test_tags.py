"""Classes of named tuples that are made while a program runs."""

import pickle

from rai_sim.engine import tags
from rai_sim.engine.tags import tag


def test_one_class_a_name() -> None:
    """Another digest, other fields or another module are another class; it stands in the module, so it is pickled
    by reference."""
    one = tag("Race", "ab" * 32, ["delta", "width"], "races")
    assert tag("Race", "ab" * 32, ["delta", "width"], "races") is one
    assert tag("Race", "cd" * 32, ["delta", "width"], "races") is not one
    assert tag("Race", "ab" * 32, ["delta"], "races") is not one
    assert tag("Race", "ab" * 32, ["delta", "width"], "copied") is not one
    assert one(1.0, 2.0).width == 2.0
    assert getattr(tags, one.__name__) is one
    assert pickle.loads(pickle.dumps(one(1.0, 2.0))) == one(1.0, 2.0)
