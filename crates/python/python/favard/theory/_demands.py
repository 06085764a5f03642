"""What the corrected theorems demand of a run and of an epoch."""

from dataclasses import dataclass

from favard._core import theory as _core
from favard.theory._growth import Growth


@dataclass(frozen=True)
class MiniBatch:
    """What Theorem nonsvrg demands of a run with mini-batches.

    Parameters
    ----------
    growth : Growth
        The regime.
    delta : float
        It fails with probability at most ``2 delta``.
    epsilon : float
        ``sin**2`` wanted.

    Attributes
    ----------
    iterations : int
        Steps.
    closed_form : int
        Their closed form.
    s_op_max : float
        The largest ``||E[N.T N]||`` of a step.

    Examples
    --------
    >>> from favard.theory import Growth, MiniBatch
    >>> demand = MiniBatch(Growth.optimal(1.0, 0.9), 0.01, 1e-3)
    >>> demand.iterations, demand.batch(90.0)
    (22, 66694736843)
    """

    growth: Growth
    delta: float
    epsilon: float

    def __post_init__(self):
        _core.mini_batch(*self._numbers)

    @property
    def _numbers(self):
        return self.growth._regime, (self.delta, self.epsilon)

    @property
    def iterations(self) -> int:
        """Steps."""
        return _core.mini_batch(*self._numbers)["iterations"]

    @property
    def closed_form(self) -> int:
        """The closed form of the steps."""
        return _core.mini_batch(*self._numbers)["closed_form"]

    @property
    def s_op_max(self) -> float:
        """The largest ``||E[N.T N]||`` of a step."""
        return _core.mini_batch(*self._numbers)["s_op_max"]

    def sigma_max(self, dim: int) -> float:
        """The largest ``||E[N kron N]||`` of a step.

        Parameters
        ----------
        dim : int
            The dimension.

        Returns
        -------
        float
            With the sharp constant.
        """
        return _core.mini_batch_sigma_max(*self._numbers, dim)[0]

    def sigma_max_paper(self, dim: int) -> float:
        """The same with the paper's constant.

        Parameters
        ----------
        dim : int
            The dimension.

        Returns
        -------
        float
            A quarter of :meth:`sigma_max`.
        """
        return _core.mini_batch_sigma_max(*self._numbers, dim)[1]

    def batch(self, s_op: float) -> int:
        """The batch that is large enough.

        Parameters
        ----------
        s_op : float
            ``||E[N.T N]||`` of one sample.

        Returns
        -------
        int
            Samples a step.
        """
        return _core.mini_batch_batch(*self._numbers, s_op)


@dataclass(frozen=True)
class VarianceReduced:
    """What Theorem svrg demands of every epoch.

    Parameters
    ----------
    growth : Growth
        The regime.
    delta : float
        An epoch fails with probability at most ``2 delta``.
    c : float
        The constant, below 1/9.

    Attributes
    ----------
    iterations, closed_form, s_op_max
        As for :class:`MiniBatch`, of an epoch.
    contraction : float
        ``4 c / (1 - sqrt(c))**2``, the factor of an epoch on ``sin**2``.

    Examples
    --------
    >>> from favard.theory import Growth, VarianceReduced
    >>> epoch = VarianceReduced(Growth.optimal(1.0, 0.9), 0.01, 1 / 16)
    >>> epoch.iterations, epoch.epochs(0.5, 1e-3), epoch.batch(90.0)
    (13, 8, 78821053)
    """

    growth: Growth
    delta: float
    c: float

    def __post_init__(self):
        _core.variance_reduced(*self._numbers)

    @property
    def _numbers(self):
        return self.growth._regime, (self.delta, self.c)

    @property
    def iterations(self) -> int:
        """Steps of an epoch."""
        return _core.variance_reduced(*self._numbers)["iterations"]

    @property
    def closed_form(self) -> int:
        """The closed form of the steps."""
        return _core.variance_reduced(*self._numbers)["closed_form"]

    @property
    def s_op_max(self) -> float:
        """The largest ``||E[N.T N]||`` of a step."""
        return _core.variance_reduced(*self._numbers)["s_op_max"]

    @property
    def contraction(self) -> float:
        """The factor of an epoch on ``sin**2``."""
        return _core.variance_reduced(*self._numbers)["contraction"]

    def sigma_max_paper(self, dim: int) -> float:
        """The largest ``||E[N kron N]||`` of a step with the paper's constants.

        Parameters
        ----------
        dim : int
            The dimension.

        Returns
        -------
        float
            The norm.
        """
        return _core.variance_reduced_sigma_max(*self._numbers, dim)

    def batch(self, s_op: float) -> int:
        """The batch that is large enough.

        Parameters
        ----------
        s_op : float
            ``||E[N.T N]||`` of one sample.

        Returns
        -------
        int
            Samples a step.
        """
        return _core.variance_reduced_batch(*self._numbers, s_op)

    def epochs(self, theta0: float, epsilon: float) -> int:
        """Epochs to an error.

        Parameters
        ----------
        theta0 : float
            ``sin**2`` of the first anchor's angle, at most 1/2.
        epsilon : float
            ``sin**2`` wanted.

        Returns
        -------
        int
            Epochs.
        """
        return _core.variance_reduced_epochs(*self._numbers, theta0, epsilon)

    def success(self, epochs: int) -> float:
        """The probability that all epochs succeed, at least.

        Parameters
        ----------
        epochs : int
            Epochs.

        Returns
        -------
        float
            ``1 - 2 epochs delta``; no guarantee where it is negative.
        """
        return _core.variance_reduced_success(*self._numbers, epochs)
