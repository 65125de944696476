"""Run the command line as `python -m rai_sim`."""

import sys

from rai_sim.cli import main

if __name__ == "__main__":
    sys.exit(main())
