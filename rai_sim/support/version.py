"""The version of the package; `pyproject.toml` and `CITATION.cff` say the same (tested)."""

__version__ = "0.1.0"
