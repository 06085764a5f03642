"""The search of benches/peers: the loosest parameter that reaches a residual, whoever is slow."""

import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parents[3] / "benches" / "peers"
pytestmark = pytest.mark.skipif(not HERE.exists(), reason="not in the repository")
LADDER = [10.0**-j for j in range(1, 13)]


@pytest.fixture
def module(monkeypatch):
    monkeypatch.syspath_prepend(str(HERE))
    import search

    yield search
    for name in ("search", "solvers"):
        sys.modules.pop(name, None)


class Fake:
    """A solver whose residual and seconds are functions of its parameter."""

    def __init__(self, residual, seconds=lambda p: 1.0, fails=lambda p: False):
        self.residual, self.seconds, self.fails = residual, seconds, fails
        self.asked = []

    def run(self, name, center, k, parameter, limit):
        self.asked.append(parameter)
        if self.fails(parameter):
            return {"error": "no convergence"}
        if self.seconds(parameter) > limit:
            return {"cut": limit}
        found = {"residual": self.residual(parameter), "seconds": self.seconds(parameter)}
        return found | {"values": [1.0]}


def find(module, fake, target=1e-6, limit=10.0, guess=3, values=(1.0,)):
    tries = module.Tries(fake, "fake", True, 1)
    return module.search(tries, LADDER, target, values, limit, guess)


@pytest.mark.parametrize("guess", [0, 3, 5, 6, 11])
def test_the_loosest_rung_whatever_the_guess(module, guess):
    """Residual = parameter / 3: 1e-6 is reached from 3e-6 on, that is by the rung 1e-6. The cost is
    the same everywhere, so that nothing is refined."""
    fake = Fake(lambda p: p / 3)
    at, parameter, run = find(module, fake, guess=guess)
    assert (at, parameter) == (5, pytest.approx(1e-6))
    assert len(set(fake.asked)) == len(fake.asked)


def test_refined_where_the_looser_rung_is_cheaper(module):
    """Between 1e-5 (too loose) and 1e-6 two halvings: 3.2e-6 is too loose, 1.8e-6 is not."""
    import math

    fake = Fake(lambda p: p / 2, seconds=lambda p: -math.log10(p))
    assert find(module, fake)[1] == pytest.approx(10**-5.75)


@pytest.mark.parametrize("guess", [3, 6, 9])
def test_an_error_of_what_is_tight_leads_to_what_is_looser(module, guess):
    fake = Fake(lambda p: p / 3, fails=lambda p: p < 5e-7)
    assert find(module, fake, guess=guess)[0] == 5


def test_slow_where_it_reaches_the_target(module):
    """1e-6 would take 60 s: cut at 10 s, and told so; the looser rungs did not reach it."""
    import math

    fake = Fake(lambda p: p / 3, seconds=lambda p: 10.0 ** (-math.log10(p) - 4))
    assert find(module, fake)[2] == {"slower_than": 10.0}
    assert find(module, fake, guess=11)[2] == {"slower_than": 10.0}


def test_slow_everywhere_costs_two_runs(module):
    fake = Fake(lambda p: p / 3, seconds=lambda p: 60.0)
    assert find(module, fake, guess=0)[2] == {"slower_than": 10.0}
    assert len(fake.asked) == 2


def test_never_reached_tells_the_smallest_residual(module):
    at, _, why = find(module, Fake(lambda p: max(p, 1e-4)))
    assert at is None and why == {"error": "residual 1.0e-04"}


def test_failing_everywhere_tells_the_error(module):
    at, _, why = find(module, Fake(lambda p: p, fails=lambda p: True))
    assert at is None and why == {"error": "no convergence"}


def test_a_missed_eigenvalue_is_not_reached(module):
    """The peer's value is 1, ours 1.1, both with residuals of 1e-6 at most."""
    at, _, why = find(module, Fake(lambda p: p), values=(1.1,))
    assert at is None and "error" in why
