"""What holds for all tests."""

import signal


def pytest_configure() -> None:
    """Let Ctrl-C arrive where it is ignored, as by whatever a script starts in the background: tests
    send it, and processes that they start would ignore it, too."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
