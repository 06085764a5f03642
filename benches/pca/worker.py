"""Solves the bench's problems with the Python peers, one line of JSON at a time."""
import json
import sys
import time
import warnings

import numpy as np
import scipy
import scipy.sparse as sparse
import sklearn
from scipy.sparse.linalg import LinearOperator, svds
from sklearn.decomposition import PCA, TruncatedSVD

try:
    import primme
except ImportError:  # the bench has said so already
    primme = None

warnings.simplefilter("ignore")
folder = sys.argv[1]


class Data:
    """The matrix, its transpose stored by rows, and its mean: made outside of every timing."""

    def __init__(self, x):
        self.x = x
        self.is_sparse = sparse.issparse(x)
        self.t = x.T.tocsr() if self.is_sparse else x.T
        self.mean = np.asarray(x.mean(axis=0)).ravel()

    def operator(self, center):
        return Operator(self, self.mean if center else None)


class Operator(LinearOperator):
    """X - 1 mean' without forming it, or X."""

    def __init__(self, data, mean):
        super().__init__(np.float64, data.x.shape)
        self.data, self.mean = data, mean

    def _matmat(self, v):
        z = self.data.x @ v
        if self.mean is not None:
            z -= self.mean @ v
        return z

    def _rmatmat(self, z):
        y = self.data.t @ z
        if self.mean is not None:
            s = z.sum(axis=0)
            y -= np.outer(self.mean, s) if z.ndim == 2 else self.mean * s
        return y

    _matvec, _rmatvec = _matmat, _rmatmat


def residual(data, center, s, v):
    """max_j |A'A v_j - s_j^2 v_j| / s_1^2, in f64."""
    a = data.operator(center)
    r = a.rmatmat(a.matmat(v)) - v * s**2
    return float(np.linalg.norm(r, axis=0).max() / s[0] ** 2) if s[0] > 0 else 0.0


def arpack(data, center, k, tol):
    rng = np.random.default_rng(1)
    _, s, vt = svds(data.operator(center), k=k, tol=tol, solver="arpack", rng=rng)
    return s, vt.T


def propack(data, center, k, tol):
    # Its basis is not restarted: the default of 10 k columns is too small for tight tolerances.
    options = {"maxiter": min(*data.x.shape, max(500, 20 * k)), "rng": np.random.default_rng(1)}
    _, s, vt = svds(data.operator(center), k=k, tol=tol, solver="propack", **options)
    return s, vt.T


def lobpcg(data, center, k, iterations):
    options = {"maxiter": iterations, "rng": np.random.default_rng(1)}
    _, s, vt = svds(data.operator(center), k=k, tol=0, solver="lobpcg", **options)
    return s, vt.T


def with_primme(block):
    def solve(data, center, k, tol):
        np.random.seed(1)
        _, s, vt = primme.svds(data.operator(center), k, tol=tol, maxBlockSize=block)
        return s, vt.T

    return solve


def gram(data, center, k, _):
    """What one writes by hand with numpy: no centring, a matrix that is tall."""
    values, vectors = np.linalg.eigh(data.x.T @ data.x)
    return np.sqrt(np.maximum(values[-k:], 0)), vectors[:, -k:]


def pca(solver, name):
    def solve(data, center, k, parameter):
        options = {name: parameter} if name else {}
        fit = PCA(k, svd_solver=solver, random_state=1, **options).fit(data.x)
        return fit.singular_values_, fit.components_.T

    return solve


def truncated_svd(data, center, k, iterations):
    options = {"n_iter": iterations, "n_oversamples": 10, "random_state": 1}
    fit = TruncatedSVD(k, algorithm="randomized", **options).fit(data.x)
    return fit.singular_values_, fit.components_.T


# Loosest first. svds squares the tolerance that it hands to ARPACK.
HALF_DECADES = [10 ** (-j / 2) for j in range(1, 15)]
DECADES = [0.5] + [10.0**-j for j in range(1, 15)]
# PRIMME's residual is close to its tolerance: finer around the targets.
PRIMME = [0.3, 0.1, 1e-2, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 1e-7, 3e-8, 1e-8, 3e-9, 1e-9, 1e-10, 1e-11]
ITERATIONS = [1, 2, 3, 4, 6, 8, 11, 15, 20, 30, 40, 60, 80, 120, 160]
NONE = [0]

SOLVERS = {
    "ARPACK": (arpack, HALF_DECADES),
    "PROPACK": (propack, DECADES),
    "LOBPCG": (lobpcg, ITERATIONS),
    "PRIMME": (with_primme(1), PRIMME),
    "PRIMME block 8": (with_primme(8), PRIMME),
    "sklearn TruncatedSVD": (truncated_svd, ITERATIONS),
    "sklearn PCA arpack": (pca("arpack", "tol"), HALF_DECADES),
    "sklearn PCA randomized": (pca("randomized", "iterated_power"), ITERATIONS),
    "sklearn PCA covariance_eigh": (pca("covariance_eigh", None), NONE),
    "numpy eigh": (gram, NONE),
}


def peers(data, center, k):
    """The peers that can solve this problem."""
    rows, cols = data.x.shape
    small = cols <= 3000 and cols <= rows  # a Gram matrix that one would form
    names = []
    if k < min(rows, cols):
        names += ["ARPACK"]
        if data.is_sparse:
            names += ["PROPACK", "LOBPCG"]
        if primme is not None:
            names += ["PRIMME", "PRIMME block 8"] if k >= 8 else ["PRIMME"]
        if center and data.is_sparse:
            names += ["sklearn PCA arpack"]
    if center and not data.is_sparse:
        names += ["sklearn PCA randomized"]
    if not center:
        names += ["sklearn TruncatedSVD"]
    if small and center:
        names += ["sklearn PCA covariance_eigh"]
    if small and not center and not data.is_sparse:
        names += ["numpy eigh"]
    return [{"name": name, "ladder": SOLVERS[name][1]} for name in names]


def raw(name, dtype):
    return np.fromfile(f"{folder}/{name}", dtype)


def load(rows, cols, is_sparse):
    if not is_sparse:
        return Data(raw("values", np.float64).reshape(rows, cols))
    values, columns, pointers = raw("values", "f8"), raw("columns", "i4"), raw("pointers", "i8")
    index = np.int32 if len(values) < 2**31 else np.int64
    parts = (values, columns.astype(index), pointers.astype(index))
    return Data(sparse.csr_array(parts, shape=(rows, cols)))


def read(path):
    """A file of scipy.sparse.save_npz, also written down for the other side."""
    x = sparse.csr_array(sparse.load_npz(path)).astype(np.float64)
    x.sum_duplicates()
    x.data.tofile(f"{folder}/values")
    x.indices.astype(np.uint32).tofile(f"{folder}/columns")
    x.indptr.astype(np.uint64).tofile(f"{folder}/pointers")
    return Data(x)


def answer(ask):
    global data
    what = ask["ask"]
    if what == "load":
        data = load(ask["rows"], ask["cols"], ask["sparse"])
        return {}
    if what == "read":
        data = read(ask["path"])
        return {"rows": data.x.shape[0], "cols": data.x.shape[1]}
    center, k = ask["center"], ask["k"]
    if what == "peers":
        return {"peers": peers(data, center, k)}
    if what == "residual":
        v = raw("vectors", np.float64).reshape(-1, k)
        return {"residual": residual(data, center, np.array(ask["values"]), v)}
    solve = SOLVERS[ask["peer"]][0]
    parameter = ask["parameter"]
    start = time.perf_counter()
    s, v = solve(data, center, k, int(parameter) if parameter >= 1 else parameter)
    seconds = time.perf_counter() - start
    order = np.argsort(-s)
    s, v = s[order], v[:, order]
    return {"seconds": seconds, "values": s.tolist(), "residual": residual(data, center, s, v)}


data = None
versions = f"numpy {np.__version__}, scipy {scipy.__version__}, scikit-learn {sklearn.__version__}"
if primme is not None:
    from importlib.metadata import version

    versions += f", primme {version('primme')}"
print(json.dumps({"versions": versions}), flush=True)
for line in sys.stdin:
    try:
        reply = answer(json.loads(line))
    except Exception as error:  # a peer that fails is reported, whatever it failed with
        reply = {"error": f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"}
    print(json.dumps(reply), flush=True)
