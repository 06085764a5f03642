"""What is run: (set, numbers of components, centred or not), and for how long."""

from dataclasses import dataclass

import data

BOTH, YES, NO = (True, False), (True,), (False,)
COMPONENTS = (1, 10, 50)


@dataclass(frozen=True)
class Preset:
    """Problems, residuals, and the minutes after which no further problem is begun."""

    problems: list
    tolerances: tuple = (1e-4, 1e-8)
    minutes: float = float("inf")


PRESETS = {
    # A smoke test of a minute.
    "quick": Preset([(name, (1, 10), BOTH) for name in data.QUICK]),
    # The table of README.md: what matters most comes first.
    "readme": Preset(
        [
            ("genes-10m", (10, 1), YES),
            ("topics-10m", (10, 1), YES),
            ("variants-10m", (10, 1), YES),
            ("genes-1m", (10, 1, 50), YES),
            ("topics-1m", (10, 1, 50), YES),
            ("clustered-1m", (10, 1, 50), YES),
            ("dense-tall", (1, 10), YES),
            ("dense-images", (1, 10, 50), YES),
            ("genes-10m", (10,), NO),
            ("topics-1m", (10, 1), NO),
            ("flat-1m", (10,), BOTH),
            ("genes-10m", (50,), YES),
            ("topics-10m", (50,), YES),
            ("genes-1m", (1, 10, 50), NO),
            ("dense-tall", (1, 10), NO),
            ("clustered-1m", (1, 10, 50), NO),
            ("dense-images", (1,), NO),
        ],
        minutes=45,
    ),
    # Everything: hours.
    "full": Preset([(name, COMPONENTS, BOTH) for name in data.SETS]),
}
