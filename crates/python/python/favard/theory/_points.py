"""Functions of one variable at numbers and arrays."""

import numpy as np


def at(core, x):
    """``core`` at x: a float for a number, an array of x's shape else."""
    points = np.asarray(x, dtype=np.float64)
    return _shaped(core(points.ravel().tolist()), points)


def at_ln(core, x):
    """The same for pairs of logarithms and signs."""
    points = np.asarray(x, dtype=np.float64)
    logs, signs = core(points.ravel().tolist())
    return _shaped(logs, points), _shaped(signs, points)


def _shaped(values, points):
    return float(values[0]) if points.ndim == 0 else values.reshape(points.shape)
