"""The command line, `rai-sim` or `python -m rai_sim`: the top floor, which nothing imports."""

from rai_sim.cli.app import main as main
