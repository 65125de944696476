"""Ticks of all figures: labels that can be read at any magnitude, and no more of them than there is
room for."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.textpath import text_to_path
from matplotlib.ticker import (
    Formatter,
    Locator,
    LogLocator,
    MaxNLocator,
    NullFormatter,
    NullLocator,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Numbers are written out where none takes more characters, of those below 1 more of these: 500,000
#: and 0.0001. Else powers of ten are.
_PLAIN, _PLAIN_BELOW_1 = 7, 6
#: A label may be off by this share of the distance to the next tick.
_OFF = 0.02
#: Ticks of an axis, at most, and how far from each other labels must be, in heights of a digit.
_MOST, _APART = 8, 0.7


def tick_labels(values: Sequence[float]) -> list[str]:
    """Return the labels of an axis' ticks: 500,000 or 0.001, and powers of ten for all of them
    where some are longer.

    Digits are as many as tell neighbours apart.

    Examples
    --------
    >>> tick_labels([0.0, 50_000.0, 100_000.0]), tick_labels([1e8, 2.5e8])
    (['0', '50,000', '100,000'], ['$10^{8}$', '$2.5\\\\times10^{8}$'])
    """
    parts = [_scientific(value, values) for value in values]
    plain = [_plain(digits, exponent) for digits, exponent in parts]
    powers = [_power(digits, exponent) for digits, exponent in parts]
    if all(
        len(text) <= (_PLAIN if exponent >= 0 else _PLAIN_BELOW_1)
        for text, (_, exponent) in zip(plain, parts, strict=True)
    ):
        return plain
    # Where many digits are needed a power only makes them longer.
    return plain if max(map(len, plain)) <= max(map(_characters, powers)) else powers


def _scientific(value: float, values: Sequence[float]) -> tuple[str, int]:
    """Return a value as digits and a power of ten: as few digits as tell it from its neighbours."""
    if value == 0.0 or not math.isfinite(value):
        return "0", 0
    others = [abs(value - other) for other in values if other != value]
    near = max(_OFF * min(others), 2e-15 * abs(value)) if others else 1e-4 * abs(value)
    text = next(
        text
        for number in range(17)
        if abs(float(text := f"{value:.{number}e}") - value) <= near or number == 16
    )
    digits, _, exponent = text.partition("e")
    return digits.rstrip("0").rstrip(".") if "." in digits else digits, int(exponent)


def _plain(digits: str, exponent: int) -> str:
    return format(Decimal(f"{digits}e{exponent}"), ",f").replace("-", "−")


def _power(digits: str, exponent: int) -> str:
    if digits == "0":
        return "0"
    sign, size = ("-", digits[1:]) if digits.startswith("-") else ("", digits)
    return (
        rf"${sign}10^{{{exponent}}}$" if size == "1" else rf"${sign}{size}\times10^{{{exponent}}}$"
    )


def _characters(power: str) -> float:
    """Return about how many characters wide a power is."""
    digits, _, exponent = power.strip("$").replace(r"\times", "×").partition("^")
    return len(digits) + 0.7 * len(exponent.strip("{}"))


class TickFormatter(Formatter):
    """`tick_labels` as matplotlib asks for them."""

    def __call__(self, x: float, pos: int | None = None) -> str:
        """Return the label of one value, such as the one under the cursor."""
        return tick_labels([x])[0]

    def format_ticks(self, values: Sequence[float]) -> list[str]:
        """Return the labels of all ticks, which agree in form."""
        return tick_labels([float(value) for value in values])


class TickLocator(Locator):
    """As many ticks at round numbers as fit: labels never touch, whatever the axis' range and
    length.

    Parameters
    ----------
    wanted : sequence of float
        Where ticks should be if their labels fit, such as where the points are.
    whole : bool
        Whether numbers between integers mean nothing.
    """

    def __init__(self, wanted: Sequence[float] = (), whole: bool = False) -> None:
        """Remember what suits the data."""
        self._wanted, self._whole = sorted(set(wanted)), whole

    def __call__(self) -> Sequence[float]:
        """Return the ticks in the axis' present range."""
        axis: Any = self.axis
        return self.tick_values(*sorted(axis.get_view_interval()))

    def tick_values(self, vmin: float, vmax: float) -> Sequence[float]:
        """Return the ticks in a range: of the candidates that fit the first that has at least two;
        on the shortest axes one."""
        if len(self._wanted) == 1 and vmin <= self._wanted[0] <= vmax:
            return self._wanted  # all points are at one place: nothing else there has a meaning
        best: list[float] = []
        one: list[float] = []
        slack = 1e-9 * (vmax - vmin)
        for ticks in self._candidates(vmin, vmax):
            inside = [tick for tick in ticks if vmin - slack <= tick <= vmax + slack]
            one = inside[len(inside) // 2 :][:1] or one
            if len(best) < len(inside) <= _MOST and self._fit(inside, vmin, vmax):
                best = inside
                if len(best) > 1:
                    break
        return best or one

    def _candidates(self, low: float, high: float) -> Iterator[Sequence[float]]:
        if 2 <= len(self._wanted) <= _MOST:
            yield self._wanted
        axis: Any = self.axis
        if axis.get_scale() == "log" and low > 0.0 and 4.0 * low <= high:
            yield from _on_a_logarithmic_axis(low, high)
        for number in range(6, 0, -1):
            ticks: Any = MaxNLocator(
                number, steps=[1, 2, 2.5, 5, 10], integer=self._whole
            ).tick_values(low, high)
            yield ticks.tolist()

    def _fit(self, ticks: Sequence[float], low: float, high: float) -> bool:
        """Whether the ticks' labels, drawn at their places, keep their distance."""
        if len(ticks) < 2:
            return True
        axis: Any = self.axis
        size, along = self._sizes(ticks)
        box, dpi = axis.axes.bbox, axis.axes.get_figure(root=True).dpi
        length = (box.width if axis.axis_name == "x" else box.height) * 72.0 / dpi
        ends = axis.get_transform().transform(np.array([low, high, *ticks], float))
        places = (ends[2:] - ends[0]) / (ends[1] - ends[0]) * length
        return bool((np.diff(places) > (along[1:] + along[:-1]) / 2.0 + _APART * size).all())

    def _sizes(self, ticks: Sequence[float]) -> tuple[float, Any]:
        """Return the size of the font, and how long the labels are along the axis, in points."""
        axis: Any = self.axis
        font = axis.get_major_ticks(1)[0].label1.get_fontproperties()
        size = float(font.get_size_in_points())
        if axis.axis_name != "x":
            return size, np.full(len(ticks), size)
        widths = [
            text_to_path.get_text_width_height_descent(text, font, "$" in text)[0]
            for text in tick_labels(ticks)
        ]
        return size, np.array(widths)


def _on_a_logarithmic_axis(low: float, high: float) -> Iterator[Sequence[float]]:
    """Yield powers of ten, with 2 and 5 or 3 between them on short axes, every second one and fewer
    on long ones."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    if high < 100.0 * low:
        for between in ((1, 2, 5), (1, 3)):
            yield [
                factor * _ten(exponent) for exponent in range(first, last + 1) for factor in between
            ]
    for stride in range(1, max(last - first, 2)):
        yield [_ten(exponent) for exponent in range(first, last + 1) if exponent % stride == 0]


def _ten(exponent: int) -> float:
    return float(f"1e{exponent}")  # 10.0 ** -5 is another double than 1e-5


def set_ticks(ax: Axes, axis: str, wanted: Sequence[float] = (), *, whole: bool = False) -> None:
    """Give an axis of some axes the package's ticks and labels (see `TickLocator`)."""
    side = ax.xaxis if axis == "x" else ax.yaxis
    side.set_major_locator(TickLocator(wanted, whole))
    side.set_major_formatter(TickFormatter())
    side.set_minor_formatter(NullFormatter())
    side.set_minor_locator(_MinorLocator() if side.get_scale() == "log" else NullLocator())


class _MinorLocator(LogLocator):
    """The marks between powers of ten, where those have labels."""

    def __init__(self) -> None:
        super().__init__(subs=tuple(range(2, 10)))

    def tick_values(self, vmin: float, vmax: float) -> Any:
        axis: Any = self.axis
        ticks = axis.get_majorticklocs()
        powers = len(ticks) > 1 and all(
            math.isclose(tick, _ten(round(math.log10(tick))), rel_tol=1e-9) for tick in ticks
        )
        return super().tick_values(vmin, vmax) if powers else []
