"""The data sets: each a function of a size, with a fixed seed."""

import numpy as np
import scipy.sparse as sp


def _counts(rows, columns, shape):
    """A sparse matrix of ln(1 + how often each place was drawn)."""
    matrix = sp.coo_array((np.ones(len(rows)), (rows, columns)), shape=shape).tocsr()
    matrix.sum_duplicates()
    np.log1p(matrix.data, out=matrix.data)
    return matrix


def topics(rows, cols, length, kinds=50, seed=1):
    """Words in documents: each of `length` words is drawn from one of the document's topics."""
    rng = np.random.default_rng(seed)
    zipf = 1 / np.arange(1, cols + 1)
    words = [np.cumsum(rng.permutation(zipf) * rng.gamma(0.3, size=cols)) for _ in range(kinds)]
    words = [sums / sums[-1] for sums in words]
    parts = []
    for first in range(0, rows, 4096):
        count = min(4096, rows - first)
        shares = np.cumsum(rng.dirichlet(np.full(kinds, 0.1), size=count), axis=1)
        draws = rng.random((count, length))
        kind = np.stack([np.searchsorted(s, u) for s, u in zip(shares, draws)])
        kind = kind.clip(max=kinds - 1).ravel()
        word, uniform = np.empty(count * length, np.int64), rng.random(count * length)
        for k in range(kinds):
            of_kind = kind == k
            word[of_kind] = np.searchsorted(words[k], uniform[of_kind])
        document = np.repeat(np.arange(count), length)
        parts.append(_counts(document, word.clip(max=cols - 1), (count, cols)))
    return sp.csr_array(sp.vstack(parts, format="csr"))


def genes(rows, cols, filled, kinds=25, seed=2):
    """Molecules of genes in cells: Poisson, log-normal rates, one gene in twenty marks a type."""
    rng = np.random.default_rng(seed)
    rates = np.exp(1.5 * rng.standard_normal(cols))[None, :].repeat(kinds, axis=0)
    marks = rng.random((kinds, cols)) < 0.05
    rates[marks] *= np.exp(2 * rng.standard_normal(marks.sum()))
    low, high = 1e-9, 1e9
    for _ in range(60):  # the scale with that share of entries that are not zero
        scale = np.sqrt(low * high)
        low, high = (scale, high) if -np.expm1(-scale * rates).mean() < filled else (low, scale)
    parts = []
    for first in range(0, rows, 1024):
        count = min(1024, rows - first)
        kind = (kinds * rng.random(count) ** 2).astype(int)
        size = low * np.exp(0.4 * rng.standard_normal(count))
        block = sp.csr_array(rng.poisson(size[:, None] * rates[kind]).astype(np.float64))
        np.log1p(block.data, out=block.data)
        parts.append(block)
    return sp.csr_array(sp.vstack(parts, format="csr"))


def ratings(rows, cols, entries, seed=3):
    """Stars of users for items: both as popular as Zipf has it, tastes of rank 8."""
    rng = np.random.default_rng(seed)
    user = (rows * rng.random(entries) ** 2).astype(np.int64)
    item = (cols * rng.random(entries) ** 3).astype(np.int64)
    taste, kind = rng.standard_normal((rows, 8)), rng.standard_normal((cols, 8))
    stars = np.empty(entries)
    for first in range(0, entries, 1 << 20):
        part = slice(first, first + (1 << 20))
        stars[part] = np.einsum("ij,ij->i", taste[user[part]], kind[item[part]]) / np.sqrt(8)
    stars = np.clip(np.round(3.5 + stars), 1, 5)
    place = np.unique(user * cols + item, return_index=True)
    user, item, stars = place[0] // cols, place[0] % cols, stars[place[1]]
    return sp.coo_array((stars, (user, item)), shape=(rows, cols)).tocsr()


def flat(rows, cols, entries, seed=4):
    """Random places, random values: a spectrum without gaps, the hard case."""
    rng = np.random.default_rng(seed)
    place = (rng.integers(rows, size=entries), rng.integers(cols, size=entries))
    matrix = sp.coo_array((rng.standard_normal(entries), place), shape=(rows, cols)).tocsr()
    matrix.sum_duplicates()
    return matrix


def decaying(rows, cols, entries, power=0.5, seed=5):
    """The same with column j scaled by j^-power: a spectrum that falls slowly."""
    matrix = flat(rows, cols, entries, seed)
    scale = np.arange(1, cols + 1) ** -power
    matrix.data *= np.random.default_rng(seed).permutation(scale)[matrix.indices]
    return matrix


def clustered(rows, cols, entries, groups=12, seed=6):
    """Groups of rows that share their columns, all alike: leading values close together."""
    rng = np.random.default_rng(seed)
    row, column = rng.integers(rows, size=entries), rng.integers(cols, size=entries)
    inside = rng.random(entries) < 0.7
    size = cols // groups
    column[inside] = (row[inside] % groups) * size + column[inside] % size
    return _counts(row, column, (rows, cols))


def variants(rows, cols, populations=5, apart=0.1, seed=8):
    """Alleles of mostly rare variants in people: few rows, many columns. Frequencies as 1/p², from one carrier
    among the people to half of them, drifted apart in each population (Balding and Nichols)."""
    rng = np.random.default_rng(seed)
    bounds = np.linspace(0, rows, populations + 1).astype(int)
    parts = []
    for first in range(0, cols, 1 << 17):
        count = min(1 << 17, cols - first)
        low, high = 0.5 / rows, 0.5
        frequency = low / (1 - rng.random(count) * (1 - low / high))
        spread = (1 - apart) / apart
        drawn = []
        for start, end in zip(bounds, bounds[1:]):
            own = rng.beta(frequency * spread, (1 - frequency) * spread)
            carriers = rng.poisson(2 * (end - start) * own)
            column = np.repeat(np.arange(count), carriers)
            drawn.append((rng.integers(start, end, size=len(column)), column))
        row, column = (np.concatenate(side) for side in zip(*drawn))
        part = sp.csr_array(sp.coo_array((np.ones(len(row)), (row, column)), shape=(rows, count)))
        part.sum_duplicates()
        np.minimum(part.data, 2, out=part.data)
        parts.append(part)
    matrix = sp.csr_array(sp.hstack(parts, format="csr"))
    matrix.indptr, matrix.indices = matrix.indptr.astype(np.int32), matrix.indices.astype(np.int32)
    return matrix


def low_rank(rows, cols, rank, seed=7):
    """Dense: a mean, factors that get weaker, noise."""
    rng = np.random.default_rng(seed)
    factors = rng.standard_normal((rank, cols)) * (3 / np.sqrt(np.arange(1, rank + 1) * cols))[:, None]
    x = 0.5 * rng.standard_normal((rows, cols)) + rng.standard_normal(cols)
    x += rng.standard_normal((rows, rank)) @ factors
    return x


SETS = {
    "topics-1m": lambda: topics(20_000, 8_000, 90),
    "genes-1m": lambda: genes(5_000, 4_000, 0.05),
    "ratings-1m": lambda: ratings(30_000, 20_000, 1_100_000),
    "flat-1m": lambda: flat(40_000, 10_000, 1_000_000),
    "decaying-1m": lambda: decaying(40_000, 10_000, 1_000_000),
    "clustered-1m": lambda: clustered(30_000, 12_000, 1_000_000),
    "wide-1m": lambda: decaying(5_000, 100_000, 1_000_000),
    "topics-10m": lambda: topics(200_000, 40_000, 80),
    "variants-10m": lambda: variants(1_000, 1_500_000),
    "genes-10m": lambda: genes(25_000, 8_000, 0.05),
    "dense-tall": lambda: low_rank(1_000_000, 10, 5),
    "dense-images": lambda: low_rank(70_000, 784, 60),
}

QUICK = {
    "topics-50k": lambda: topics(1_500, 800, 60),
    "dense-small": lambda: low_rank(3_000, 60, 12),
}
