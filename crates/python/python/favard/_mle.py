"""How many components there are: Minka's estimate."""

import numpy as np
from scipy.special import gammaln


def log_evidence(spectrum, rank, n_samples):
    """The logarithm of the evidence for a rank, by Laplace's method.

    Parameters
    ----------
    spectrum : ndarray of shape (n_features,)
        All variances, descending.
    rank : int
        From 1 to n_features - 1.
    n_samples : int
        The number of rows.

    References
    ----------
    T. P. Minka, "Automatic choice of dimensionality for PCA", NIPS 2000, equation 30.
    """
    n_features = len(spectrum)
    if spectrum[rank - 1] < 1e-15:
        return -np.inf
    i = np.arange(1, rank + 1)
    half = (n_features - i + 1) / 2
    # log p(U): the volume of the frames of that many columns
    frames = np.sum(gammaln(half) - np.log(np.pi) * half) - rank * np.log(2.0)
    noise = max(1e-15, spectrum[rank:].sum() / (n_features - rank))
    kept = -n_samples / 2 * np.log(spectrum[:rank]).sum()
    left = -n_samples * (n_features - rank) / 2 * np.log(noise)
    free = n_features * rank - rank * (rank + 1) / 2
    prior = np.log(2 * np.pi) * (free + rank) / 2
    # log det of the Hessian: Σ_{i ≤ k, j > i} log (λ_i − λ_j)(1/λ̂_j − 1/λ̂_i) n
    fitted = spectrum.copy()
    fitted[rank:] = noise
    a, b = spectrum[:rank, None], spectrum[None, :]
    fa, fb = fitted[:rank, None], fitted[None, :]
    above = np.arange(n_features)[None, :] > np.arange(rank)[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.log((a - b) * (1 / fb - 1 / fa)) + np.log(n_samples)
    return frames + kept + left + prior - terms[above].sum() / 2 - rank * np.log(n_samples) / 2


def infer_dimension(spectrum, n_samples):
    """The rank of largest evidence."""
    ranks = range(1, len(spectrum))
    evidence = [-np.inf] + [log_evidence(spectrum, rank, n_samples) for rank in ranks]
    return int(np.argmax(np.nan_to_num(evidence, nan=-np.inf, neginf=-np.inf)))
