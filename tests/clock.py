"""A clock of the test's own, in the place of the machine's."""


class Clock:
    """Seconds that pass only when a test says so."""

    def __init__(self) -> None:
        """Start at 0."""
        self.now = 0.0

    def __call__(self) -> float:
        """Tell the time."""
        return self.now
