"""SubspaceTracker."""

from dataclasses import dataclass
from numbers import Integral, Real

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import gen_batches
from sklearn.utils.validation import assert_all_finite, check_is_fitted, validate_data

from favard import _core
from favard._common import check_number
from favard._components import checked_scores
from favard._data import FLOATS, check_pointers, core_matrix, is_sparse
from favard._info import Info
from favard._progress import watcher


#: What a tracker is made with, and cannot change.
_FIXED = ("n_components", "learning_rate", "momentum")


@dataclass(frozen=True)
class Weighing:
    """Lag against noise, as squared angles.

    Attributes
    ----------
    speed : float
        How fast the subspace turns, in radians a batch.
    lag2, ball : float
        The squared lag and the noise ball without momentum.
    plain, momentum : float
        The squared errors predicted without and with momentum.
    """

    speed: float
    lag2: float
    ball: float
    plain: float
    momentum: float


class SubspaceTracker(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """The subspace of largest variance of rows that come in batches, while it moves.

    Every batch is one step of the recurrence on its own covariance, and is then forgotten. Entries
    may be missing: they are weighted by the inverse probability of being seen. Momentum follows a
    drift more closely and amplifies noise; it is used where it is predicted to pay. Rows are not
    centred.

    Parameters
    ----------
    n_components : int, default=2
        The dimension of the subspace.
    learning_rate : float, default=None
        The step of Oja's rule, which takes batches of any size and forgets slowly. For None a batch
        is a power step, which forgets fast and takes batches of more rows than components.
    momentum : {'auto', True, False} or float, default='auto'
        Where it pays, always, never, or always with this beta.
    missing : {'auto', True, False}, default='auto'
        What is missing: NaN in dense rows and what a mask hides ('auto'), also what sparse rows do
        not store (True), or nothing, and NaN is an error (False).
    probability : float, default=None
        The share of entries that are seen; that of each batch for None.
    batch_size : int, default=None
        Rows of a batch in ``fit``; ``5 * n_features`` for None.
    init : array-like of shape (n_components, n_features), default=None
        The subspace to start from; a random one for None.
    callback : callable, default=None
        Called after each batch as ``callback(batches, batches, residual)``; true ends ``fit``.
    verbose : int, default=0
        Whether progress is shown.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        An orthonormal basis.
    explained_variance_ : ndarray of shape (n_components,)
        The variances of the last batch along the subspace before it had seen the batch.
    residuals_ : ndarray of shape (n_components,)
        Their residuals: lag and noise together.
    momentum_ : bool
        Whether the next batch is used with momentum.
    beta_ : float
        Its beta.
    weighing_ : Weighing or None
        Lag against noise; None before two windows have passed.
    report_ : str
        Whether momentum is used, and why.
    n_batches_seen_, n_samples_seen_, n_features_in_ : int
        Counts.
    info_ : Info
        What it cost, and the residuals of the last batch. A pass is a batch.

    Notes
    -----
    A pickled tracker keeps its subspace and its counts; what it knew about drift and noise is
    measured anew.

    Examples
    --------
    >>> import numpy as np
    >>> from favard import SubspaceTracker
    >>> rng = np.random.default_rng(0)
    >>> tracker = SubspaceTracker(n_components=2)
    >>> for _ in range(40):
    ...     rows = rng.normal(size=(200, 10)) * ([3, 3] + 8 * [1])
    ...     rows[rng.random(rows.shape) < 0.2] = np.nan
    ...     tracker = tracker.partial_fit(rows)
    >>> bool(np.sum(tracker.components_[:, 2:] ** 2) < 0.1)
    True
    >>> tracker.n_batches_seen_
    40
    """

    def __init__(
        self,
        n_components=2,
        *,
        learning_rate=None,
        momentum="auto",
        missing="auto",
        probability=None,
        batch_size=None,
        init=None,
        callback=None,
        verbose=0,
    ):
        self.n_components = n_components
        self.learning_rate = learning_rate
        self.momentum = momentum
        self.missing = missing
        self.probability = probability
        self.batch_size = batch_size
        self.init = init
        self.callback = callback
        self.verbose = verbose

    def fit(self, X, y=None, *, mask=None):
        """Start anew, and take the rows of X in, a batch at a time.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows, the oldest first.
        y : Ignored
        mask : array-like of bool of shape (n_samples, n_features), default=None
            Which entries were seen.

        Returns
        -------
        self : object
            The estimator.
        """
        X, mask = self._validated(X, mask, first=True)
        check_number(self, "batch_size", 1, kind=Integral, optional=True)
        size = 5 * X.shape[1] if self.batch_size is None else self.batch_size
        # A last batch that is too small goes with the one before.
        least = self.n_components + 1 if self.learning_rate is None else 0
        self._forget()
        with watcher(type(self).__name__, self.verbose, self.callback) as watch:
            for batch in gen_batches(X.shape[0], size, min_batch_size=least):
                if self._absorb(X[batch], None if mask is None else mask[batch], watch.callback):
                    break
            watch.info = self.info_
        return self

    def partial_fit(self, X, y=None, *, mask=None):
        """Take a batch in.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The batch. NaN is an entry that was not seen.
        y : Ignored
        mask : array-like of bool of shape (n_samples, n_features), default=None
            Which entries were seen.

        Returns
        -------
        self : object
            The estimator. After an error it is as it was.
        """
        first = not hasattr(self, "components_")
        X, mask = self._validated(X, mask, first)
        if first:
            self._forget()
        with watcher(type(self).__name__, self.verbose, self.callback) as watch:
            self._absorb(X, mask, watch.callback)
            watch.info = self.info_
        return self

    def _forget(self):
        """As before the first batch."""
        self._tracker, self._holes = None, False
        self.n_samples_seen_ = self.n_batches_seen_ = 0

    def _validated(self, X, mask, first):
        check_number(self, "n_components", 1, kind=Integral)
        check_number(self, "learning_rate", 0, optional=True)
        check_number(self, "probability", 0, optional=True)
        if self.missing not in ("auto", True, False):
            raise ValueError(
                "The 'missing' parameter of SubspaceTracker must be 'auto', True or False. Got "
                f"{self.missing!r} instead."
            )
        if is_sparse(X):
            check_pointers(X, indices=True)
        X = validate_data(
            self,
            X,
            accept_sparse="csr",
            dtype=FLOATS,
            reset=first,
            ensure_min_samples=1 if self.learning_rate is not None else self.n_components + 1,
            ensure_all_finite="allow-nan" if self.missing is not False else True,
        )
        if mask is None:
            return X, None
        if is_sparse(X):
            raise TypeError("mask: of sparse rows, those entries were seen that are stored")
        if self.missing is False:
            raise ValueError("mask: missing=False says that nothing is missing")
        mask = np.asarray(mask)
        if mask.shape != X.shape:
            raise ValueError(f"mask: expected shape {X.shape}, found {mask.shape}")
        if mask.dtype != bool:
            raise TypeError(f"mask: expected an array of bool, found {mask.dtype}")
        return X, mask

    def _absorb(self, X, mask, callback):
        """Takes a checked batch in; whether the callback wants no more."""
        self._check_fixed()
        tracker = getattr(self, "_tracker", None)
        if tracker is None:
            tracker = self._start(X.dtype, X.shape[1])
        dtype = np.float32 if tracker.is_single() else np.float64
        if X.dtype != dtype:
            X = X.astype(dtype)
        if mask is not None:
            X = np.where(mask, X, dtype(np.nan))
        sparse = is_sparse(X)
        if sparse:
            assert_all_finite(X, estimator_name=type(self).__name__, input_name="X")
        holes = not sparse and self.missing is not False and bool(np.isnan(X).any())
        missing = self.missing is True or holes or getattr(self, "_holes", False)
        if sparse and missing and self.missing is not True:
            # After rows with missing entries the core takes what is not stored for missing.
            X = X.toarray()
        try:
            found = tracker.update(
                core_matrix(X), missing=missing, probability=self.probability, callback=callback
            )
        except ValueError as error:
            if "not finite" in str(error):
                assert_all_finite(
                    X, allow_nan=missing, estimator_name=type(self).__name__, input_name="X"
                )
            raise
        except BaseException:
            # A batch that was left behind may still be taken in: the next one starts at the basis.
            self._tracker = None
            raise
        self._tracker, self._holes = tracker, missing
        self._fixed = {name: getattr(self, name) for name in _FIXED}
        self.n_samples_seen_ += X.shape[0]
        self._keep(found)
        if found["raised"] is not None:
            raise found["raised"]
        return found["stopped"]

    def _check_fixed(self):
        """``ValueError`` if a parameter is no longer what it was at the first batch."""
        if self.n_batches_seen_ == 0:
            return
        for name, before in getattr(self, "_fixed", {}).items():
            now = getattr(self, name)
            # True is a momentum that is chosen, 1.0 one that is given.
            if now != before or isinstance(now, bool) != isinstance(before, bool):
                raise ValueError(
                    f"The {name!r} parameter of SubspaceTracker was {before!r} at the first batch and "
                    f"is {now!r} now: set it back, or start anew with fit."
                )

    def _start(self, dtype, dim):
        """A tracker that starts at the subspace that there is, if any."""
        if self.n_components > dim:
            raise ValueError(
                f"n_components={self.n_components} must be between 1 and n_features={dim}"
            )
        momentum, beta = self.momentum, None
        if (
            isinstance(momentum, str)
            and momentum != "auto"
            or not isinstance(momentum, (str, Real))
        ):
            raise ValueError(
                "The 'momentum' parameter of SubspaceTracker must be 'auto', a bool or a float. "
                f"Got {momentum!r} instead."
            )
        if not isinstance(momentum, (str, bool)):
            beta = float(momentum)
        known = self.init
        if self.n_batches_seen_ > 0:
            known = self.components_
        if known is not None:
            known = np.require(np.transpose(known), dtype, "A")
        task = {
            "dim": int(dim),
            "components": int(self.n_components),
            "step": None if self.learning_rate is None else float(self.learning_rate),
            "momentum": momentum is True,
            "auto": isinstance(momentum, str),
            "beta": beta,
        }
        return _core.Tracker(task, dtype == np.float32, known)

    def _keep(self, found):
        """Sets the fitted attributes."""
        self.components_ = found["basis"]
        self.explained_variance_ = found["values"]
        self.residuals_ = found["residuals"]
        self.momentum_ = found["momentum"]
        self.beta_ = found["beta"]
        weighing = found["weighing"]
        self.weighing_ = None if weighing is None else Weighing(**weighing)
        self.report_ = found["report"]
        self.n_batches_seen_ += 1
        batches, worst = self.n_batches_seen_, self.residuals_.max()
        self.info_ = Info(
            stop="requested" if found["stopped"] else "exhausted",
            iterations=batches,
            applications=batches,
            passes=float(batches),
            history=np.array([[batches, batches, self.explained_variance_[0], worst]]),
            residuals=self.residuals_,
            solver="power" if self.learning_rate is None else "oja",
            reason=self.report_,
        )

    def transform(self, X):
        """The coordinates of rows in the subspace.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows; what is missing is as in ``partial_fit``.

        Returns
        -------
        X_new : ndarray of shape (n_samples, n_components)
            ``X @ components_.T``; of rows with missing entries, the coordinates that fit those best
            that were seen.
        """
        check_is_fitted(self)
        X = validate_data(
            self,
            X,
            accept_sparse=("csr", "csc"),
            dtype=FLOATS,
            reset=False,
            ensure_all_finite="allow-nan" if self.missing is not False else True,
        )
        if X.dtype != self.components_.dtype:
            X = X.astype(np.result_type(X.dtype, self.components_.dtype))
        basis = np.ascontiguousarray(self.components_.T, X.dtype)
        if is_sparse(X):
            assert_all_finite(X, estimator_name=type(self).__name__, input_name="X")
            seen = _pattern(X) if self.missing is True else None
        else:
            seen = ~np.isnan(X)
            seen = None if seen.all() else seen.astype(X.dtype)
            X = X if seen is None else np.nan_to_num(X, nan=0.0)
        along = _core.multiply(core_matrix(X), basis)
        return along if seen is None else _fitted(seen, along, basis)

    def inverse_transform(self, X):
        """Rows from their coordinates.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)
            Coordinates.

        Returns
        -------
        X_original : ndarray of shape (n_samples, n_features)
            ``X @ components_``.
        """
        check_is_fitted(self)
        return checked_scores(self, X) @ self.components_

    @property
    def _n_features_out(self):
        return len(self.components_)

    def __getstate__(self):
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_tracker"}

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.missing is not False
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _fitted(seen, along, basis):
    """Least squares over the entries seen: ``(V.T @ diag(seen) @ V) c = V.T @ diag(seen) @ x``."""
    count = basis.shape[1]
    products = (basis[:, :, None] * basis[:, None, :]).reshape(len(basis), -1)
    grams = np.asarray(seen @ products).reshape(-1, count, count)
    return (np.linalg.pinv(grams, hermitian=True) @ along[:, :, None])[:, :, 0]


def _pattern(X):
    """Ones where a sparse matrix stores something, be it a zero."""
    pattern = X.copy()
    pattern.data = np.ones_like(X.data)
    return pattern
