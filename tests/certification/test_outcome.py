"""What is said of a certification: in sentences, as a table, a frame, JSON and HTML."""

import json
import math

import polars as pl
import pytest
from coins import Coin

import rai_sim as rai
from rai_sim.certification.outcome import Certification

SEVERAL = {f"task {task}": rai.table_problem(task) for task in range(1, 4)}


def test_a_violation_names_instance_and_interval() -> None:
    """And what was not run."""
    found = rai.certify(Coin(error=0.5), 0.1, problems=SEVERAL, seed=0)
    text = str(found)
    (row,) = found.violations
    assert text.splitlines()[0] == "Coin(error=0.5, capped=0.0), delta 0.1, seed 0: not delta-PC"
    assert (
        f"not delta-PC: on 'task 1' {row.errors} of 32 outputs are wrong, {100 * row.rate:.3g} %; "
        f"error rate {100 * row.low:.3g} % to {100 * row.high:.3g} %, delta 10 %" in text
    )
    assert "2 instances not run: the verdict was clear before" in text
    assert "task 2" not in text
    assert "an instance needs an e-value of 300" in text


def test_a_pass_says_how_sure_it_is() -> None:
    """Confidence, limit, and the test's own error rates."""
    found = rai.certify(Coin(), 0.1, problems=SEVERAL, seed=0, alpha=0.05)
    limit = f"{100 * found.limit:.3g} %"
    assert found.statements[0] == (
        "no violation above delta found: with confidence 95 % every error rate on 3 instances is "
        f"below delta = 10 %, at most {limit}"
    )
    assert "with probability at most alpha = 5 %" in found.statements[-1]
    assert len(str(found).splitlines()) == 2 + 2 + 3 + 1 + 2


def test_what_is_not_excluded_is_said() -> None:
    """With the worst instance and what may help."""
    found = rai.certify(Coin(capped=0.2), 0.1, problems=SEVERAL, seed=0, replications=50)
    assert found.statements[0].startswith(
        "no violation above delta found, nor excluded on 3 of 3 instances: with confidence 99 %"
    )
    assert "after 50 replications" in found.statements[0]
    assert "stopped at the cap: no errors where a violation is to be shown" in found.statements[1]


def test_frame_and_document_tell_the_same() -> None:
    """Row by row; JSON has no infinity and no NaN."""
    found = rai.certify(Coin(error=1.0), 0.001, problems=SEVERAL, seed=0)
    frame, document = found.to_frame(), found.to_dict()
    assert frame.height == len(document["instances"]) == 3
    assert frame.schema["clusters"] == pl.List(pl.Int64)
    assert frame["error_rate"][0] == 1.0
    assert math.isnan(frame["error_rate"][1])
    assert document["instances"][1]["error_rate"] is None
    for column in set(frame.columns) - {"error_rate"}:
        assert frame[column].to_list() == [row[column] for row in document["instances"]]
    assert document["verdict"] == "not delta-PC"
    assert json.loads(json.dumps(document, allow_nan=False)) == json.loads(json.dumps(document))


def test_an_e_value_beyond_doubles() -> None:
    """Its logarithm is kept."""
    found = rai.certify(Coin(error=1.0), 1e-100, problems=SEVERAL, seed=0, replications=40)
    (row,) = found.violations
    assert row.e_value == math.inf
    assert row.log_e_value == pytest.approx(32 * 100 * math.log(10.0), rel=0.01)
    assert "  1e3198  " in str(found)
    small = rai.certify(Coin(), 0.1, problems=SEVERAL, seed=0).rows[0]
    assert small.log_e_value < 0.0
    assert small.e_value == pytest.approx(math.exp(small.log_e_value))


def test_in_a_notebook() -> None:
    """A table with the sentences below it; a violation stands out."""
    found = rai.certify(Coin(error=0.5), 0.1, problems=SEVERAL, seed=0)
    html = found._repr_html_()
    assert html.count("<tr>") == 2
    assert 'class="warn"' in html
    assert "not delta-PC: on &#x27;task 1&#x27;" in html
    assert repr(found) == (
        "Certification(Coin(error=0.5, capped=0.0), claim='error', delta=0.1, "
        "verdict='not delta-PC')"
    )
    assert isinstance(found, Certification)
