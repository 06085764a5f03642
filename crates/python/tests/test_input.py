"""Bad input: correct results or a clear error, never a crash of the interpreter."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

import favard

MAKERS = [
    lambda X: favard.PCA(2).fit(X),
    lambda X: favard.TruncatedSVD(2).fit(X),
    lambda X: favard.IncrementalPCA(2).fit(X),
    lambda X: favard.LeastSquares().fit(X, np.arange((np.shape(X) or (40,))[0])),
]
FUNCTIONS = [
    lambda X: favard.svds(X, k=1),
    lambda X: favard.eigsh(X, k=1),
    lambda X: favard.lsmr(X, np.ones(np.shape(X)[0])),
]


@pytest.fixture
def X(rng):
    return rng.normal(size=(40, 6)) @ np.diag([9.0, 5, 3, 1, 0.5, 0.1])


def components(X, **params):
    return favard.PCA(3, **params).fit(X).components_


def unaligned(X):
    raw = np.zeros(X.nbytes + 1, dtype=np.uint8)
    view = np.ndarray(X.shape, X.dtype, buffer=raw, offset=1)
    view[...] = X
    return view


def packed(X):
    """A field of records of 12 bytes: strides that are no multiple of a number."""
    records = np.zeros(X.shape, dtype=[("pad", "<i4"), ("x", "<f8")])
    records["x"] = X
    return records["x"]


LAYOUTS = {
    "fortran": np.asfortranarray,
    "transposed": lambda X: X.T.copy().T,
    "sliced": lambda X: np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3],
    "negative strides": lambda X: X[::-1, ::-1].copy()[::-1, ::-1],
    "read-only": lambda X: np.frombuffer(X.tobytes(), dtype=X.dtype).reshape(X.shape),
    "big-endian": lambda X: X.astype(">f8"),
    "little-endian": lambda X: X.astype("<f8"),
    "unaligned": unaligned,
    "packed": packed,
    "object": lambda X: X.astype(object),
    "long double": lambda X: X.astype(np.longdouble),
    "list": lambda X: X.tolist(),
}


def numbers(model):
    """What was fitted, as an array whose signs are fixed."""
    return np.abs(getattr(model, "components_", getattr(model, "coef_", None)))


def solvable(X):
    """A right-hand side in the range of X."""
    return np.asarray(X @ np.ones(6), dtype=float).ravel()


#: What every estimator and function gives, up to signs.
ALL = {
    "PCA": lambda X: numbers(favard.PCA(2, tol=0).fit(X)),
    "TruncatedSVD": lambda X: numbers(favard.TruncatedSVD(2, tol=0).fit(X)),
    "IncrementalPCA": lambda X: numbers(favard.IncrementalPCA(2, tol=0).fit(X)),
    "LeastSquares": lambda X: numbers(favard.LeastSquares(tol=0).fit(X, np.arange(40.0))),
    "Kaczmarz": lambda X: numbers(favard.Kaczmarz(max_iter=20).fit(X, solvable(X))),
    "SubspaceTracker": lambda X: numbers(favard.SubspaceTracker(2).fit(X)),
    "svds": lambda X: favard.svds(X, k=2)[1],
    "eigsh": lambda X: favard.eigsh(X.T @ X if min(X.shape) else X, k=2)[0],
    "lsmr": lambda X: favard.lsmr(X, np.arange(40.0), atol=1e-13, btol=1e-13)[0],
}


@pytest.mark.filterwarnings("ignore:Kaczmarz")  # 20 passes: equal, not exact
@pytest.mark.parametrize("who", ALL)
@pytest.mark.parametrize("name", ["fortran", "sliced", "negative strides", "read-only", "big-endian",
                                  "unaligned", "packed"])
def test_every_layout_in_everything(name, who, X):
    """Sums in another order round otherwise: 1e-9 is far above κ ε = 1e4 · 2e-16, and far below what
    a number that is read from the wrong place would change."""
    assert_allclose(ALL[who](LAYOUTS[name](X)), ALL[who](X), rtol=1e-9, atol=1e-9)


@pytest.mark.filterwarnings("ignore:Kaczmarz")  # 20 passes: equal, not exact
@pytest.mark.parametrize("who", ALL)
@pytest.mark.parametrize("name", ["explicit zeros", "summed duplicates", "unsorted", "int64",
                                  "read-only", "big-endian", "big-endian indices", "coo", "csc"])
def test_every_sparse_variant_in_everything(name, who, X):
    """Each gives what the dense matrix gives; what is not stored counts as zero."""
    A, D = {name: (A, D) for name, A, D in csr_variants(X)}[name]
    assert_allclose(ALL[who](A), ALL[who](D), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("who", ALL)
@pytest.mark.parametrize(
    "bad",
    [
        np.zeros((0, 6)),
        np.zeros((40, 0)),
        sp.csr_array((0, 6)),
        sp.csr_array((40, 0)),
        np.array([["a", "b"], ["c", "d"]]),
        np.array([["a", "b"], ["c", "d"]], dtype=object),
        np.full((40, 6), "x", dtype=object),
    ],
    ids=["rows", "cols", "sparse rows", "sparse cols", "strings", "objects", "tall objects"],
)
def test_what_is_no_data_is_refused_by_everything(who, bad):
    with pytest.raises((ValueError, TypeError)):
        ALL[who](bad)


@pytest.mark.parametrize("name", LAYOUTS)
def test_every_layout_gives_the_same(name, X):
    """The strides decide the order of sums: equal up to their rounding."""
    Y = LAYOUTS[name](X)
    assert_allclose(components(Y), components(X), atol=1e-12)
    # SciPy refuses lists and objects in its own words.
    if name not in ("list", "object"):
        assert_allclose(favard.svds(Y, k=2)[1], favard.svds(X, k=2)[1], rtol=1e-12)


def test_broadcast_arrays(rng):
    row = rng.normal(size=6)
    X = np.broadcast_to(row, (30, 6))
    assert (favard.PCA(2).fit(X).explained_variance_ == 0).all()
    assert_allclose(favard.svds(X, k=1)[1], [30**0.5 * np.linalg.norm(row)], rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int64, np.bool_, np.float16])
def test_other_numbers_become_float64(dtype, rng):
    X = rng.integers(0, 2, size=(50, 6)).astype(dtype)
    assert components(X).dtype == np.float64
    assert_allclose(components(X), components(X.astype(float)), atol=1e-12)
    assert_allclose(components(sp.csr_array(X.astype(float)).astype(np.float64)),
                    components(X.astype(float)), atol=1e-12)


def csr_variants(X):
    A = sp.csr_array(X)
    zeros = A.copy()
    zeros.data[::3] = 0.0
    yield "explicit zeros", zeros, zeros.toarray()
    coo = A.tocoo()
    double = sp.csr_array((np.r_[coo.data, coo.data], (np.r_[coo.row, coo.row],
                                                       np.r_[coo.col, coo.col])), shape=A.shape)
    yield "summed duplicates", double, 2 * X
    indices = np.r_[0, 0, 1, 2].astype(np.int32)
    raw = sp.csr_array((np.array([1.0, 2, 3, 4]), indices, np.array([0, 2, 3, 4])), shape=(3, 3))
    yield "duplicates", raw, np.array([[3.0, 0, 0], [0, 3, 0], [0, 0, 4]])
    unsorted = A.copy()
    for i in range(A.shape[0]):
        part = slice(A.indptr[i], A.indptr[i + 1])
        unsorted.indices[part] = A.indices[part][::-1]
        unsorted.data[part] = A.data[part][::-1]
    unsorted.has_sorted_indices = False
    yield "unsorted", unsorted, X
    long = A.copy()
    long.indices, long.indptr = A.indices.astype(np.int64), A.indptr.astype(np.int64)
    yield "int64", long, X
    big = A.copy()
    big.data = A.data.astype(">f8")
    yield "big-endian", big, X
    swapped = A.copy()
    swapped.indices, swapped.indptr = A.indices.astype(">i4"), A.indptr.astype(">i4")
    yield "big-endian indices", swapped, X
    frozen = A.copy()
    for part in (frozen.data, frozen.indices, frozen.indptr):
        part.flags.writeable = False
    yield "read-only", frozen, X
    yield "empty rows", sp.csr_array(np.vstack([X, np.zeros((5, 6))])), np.vstack(
        [X, np.zeros((5, 6))]
    )
    for name in ("csc", "coo", "lil", "dok", "bsr", "dia"):
        yield name, A.asformat(name), X
    yield "csr_matrix", sp.csr_matrix(X), X


def test_every_sparse_matrix(X):
    for name, A, D in csr_variants(X):
        k = min(3, D.shape[1] - 1)
        found = favard.PCA(k).fit(A).explained_variance_
        expected = np.linalg.svd(D - D.mean(axis=0), compute_uv=False)[:k] ** 2 / (len(D) - 1)
        assert_allclose(found, expected, rtol=1e-9, atol=1e-12, err_msg=name)
        s = favard.svds(A, k=1)[1]
        assert_allclose(s, np.linalg.svd(D, compute_uv=False)[:1], rtol=1e-9, err_msg=name)


def test_input_is_not_changed(X):
    A = sp.csr_array((np.ones(4), np.array([2, 0, 1, 1]), np.array([0, 2, 3, 4])), shape=(3, 3))
    indices, data = A.indices.copy(), A.data.copy()
    favard.PCA(1).fit(A)
    favard.svds(A, k=1)
    assert_array_equal(A.indices, indices)
    assert_array_equal(A.data, data)
    before = X.copy()
    favard.PCA(2, copy=False, scale=True).fit(X)
    assert_array_equal(X, before)


def test_a_broken_sparse_matrix_is_refused(X):
    """Indices that were changed behind SciPy's back: read as they are, they would be outside."""
    A = sp.csr_array(X)
    assert A.has_canonical_format
    A.indices[3] = 1_000_000
    with pytest.raises(ValueError, match="1000000"):
        favard.svds(A, k=1)
    A.indices[3] = -1
    with pytest.raises(ValueError):
        favard.svds(A, k=1)
    B = sp.csr_array(X)
    assert B.has_canonical_format
    B.indptr[2] = 10_000
    with pytest.raises(ValueError, match="10000"):
        favard.svds(B, k=1)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_non_finite_numbers_of_estimators(make, value, kind, X):
    X[3, 2] = value
    word = "NaN" if np.isnan(value) else "infinity"
    with pytest.raises(ValueError, match=f"contains {word}|Input contains {word}"):
        make(kind(X))


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_non_finite_numbers_of_functions(value, kind, rng):
    A = rng.normal(size=(9, 9))
    A[3, 2] = value
    for call in FUNCTIONS:
        with pytest.raises(ValueError, match="row 3, column 2 is not finite"):
            call(kind(A))


def test_numbers_whose_squares_overflow(X):
    with pytest.raises(ValueError, match="add up to inf.* divide the data by a power of two"):
        favard.PCA(2).fit(X * 1e200)


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize(
    "bad, error, message",
    [
        (np.zeros((0, 5)), ValueError, "0 sample"),
        (np.zeros((5, 0)), ValueError, "0 feature"),
        (np.zeros(5), ValueError, "Expected 2D array"),
        (np.zeros((2, 2, 2)), ValueError, "dim 3"),
        (np.array([["a", "b"], ["c", "d"]]), ValueError, "convert|could not"),
        (np.array([[1, "b"], [2, "d"]], dtype=object), ValueError, "convert|could not"),
        (np.ones((4, 3)) * 1j, ValueError, "Complex data not supported"),
        (None, (ValueError, TypeError), ""),
        ("hello", ValueError, ""),
        (object(), (ValueError, TypeError), ""),
    ],
    ids=["rows", "cols", "1d", "3d", "strings", "mixed", "complex", "none", "str", "object"],
)
def test_what_is_no_matrix(make, bad, error, message):
    with pytest.raises(error, match=message):
        make(bad)


@pytest.mark.parametrize("call", [lambda A: favard.svds(A, k=1), lambda A: favard.eigsh(A, k=1)])
def test_what_is_no_operator(call):
    with pytest.raises(ValueError, match="`A` must not be empty"):
        call(np.zeros((0, 0)))
    with pytest.raises(ValueError, match="`A` must not be empty"):
        call(sp.csr_array((3, 0)))
    with pytest.raises(ValueError, match="numeric"):
        call(np.array([["a", "b"], ["c", "d"]], dtype=object))
    with pytest.raises(TypeError):
        call("hi")
    with pytest.raises(TypeError):
        call(None)


def test_the_matrix_of_zeros():
    for kind in (np.asarray, sp.csr_array):
        A = kind(np.zeros((30, 20)))
        u, s, vh = favard.svds(A, k=2)
        assert_array_equal(s, 0)
        assert_allclose(u.T @ u, np.eye(2), atol=1e-12)
        assert_array_equal(favard.TruncatedSVD(2).fit(A).singular_values_, 0)
        assert_array_equal(favard.eigsh(kind(np.zeros((90, 90))), k=2)[0], 0)
        assert_array_equal(favard.lsmr(A, np.ones(30))[0], 0)


def test_weights(X):
    for bad, message in (
        (np.ones(3), "sample_weight.shape"),
        (-np.ones(40), "[Nn]egative"),
        (np.full(40, np.nan), "NaN"),
        (np.zeros(40), "weight"),
        (np.full(40, 1 / 80), "sum of the weights"),
        # One and its rounding: variances were 1e15 times too large, and certified.
        (np.full(40, np.nextafter(1 / 40, 1)), "sum of the weights"),
    ):
        with pytest.raises(ValueError, match=message):
            favard.PCA(2).fit(X, sample_weight=bad)


def test_more_memory_than_there_is():
    """MemoryError, as in NumPy, where Rust would end the process."""
    wide = sp.csr_array(([1.0, 2.0], ([0, 1], [0, 1])), shape=(3_000_000, 3_000_000))
    with pytest.raises(MemoryError, match="GiB"):
        favard.PCA().fit(wide)
    with pytest.raises(MemoryError, match="GiB"):
        favard.eigsh(wide, k=2_000_000)
    with pytest.raises(MemoryError, match="GiB"):
        favard.PCA(1).fit(sp.csr_array((3, 10**14)))
    with pytest.raises(MemoryError, match="GiB"):
        favard.MatrixCompletion(1).fit(([0, 10**14], [0, 1], [1.0, 2.0]))
    with pytest.raises(MemoryError, match="GiB"):
        favard.theory.estimate(np.eye(8, 3), n_samples=10**15)
    with pytest.raises(MemoryError, match="GiB"):
        favard.theory.momentum.sequence(10**15, 0.5, 0.1)


@pytest.mark.parametrize(
    "call",
    [
        lambda X: favard.PCA(2).fit(X),
        lambda X: favard.TruncatedSVD(2).fit(X),
        lambda X: favard.IncrementalPCA(2).partial_fit(X),
        lambda X: favard.SubspaceTracker(2).partial_fit(X),
        lambda X: favard.LeastSquares().fit(X, np.ones(40)),
        lambda X: favard.LeastSquares(solver="svrg").fit(X, np.ones(40)),
        lambda X: favard.Kaczmarz().fit(X, np.ones(40)),
        lambda X: favard.svds(X, k=2),
        lambda X: favard.svds(X.T, k=2),
        lambda X: favard.svds(X, k=2, which="SM"),
        lambda X: favard.lsmr(X, np.ones(40)),
        lambda X: favard.theory.estimate(X),
        lambda X: favard.eigsh(_Endless(), k=2),
        lambda X: favard.eigsh(_Endless(), k=2, which="SM"),
    ],
)
def test_more_columns_than_vectors_can_be_had_for(call):
    """Hashes for columns, say: the interpreter was aborted."""
    places = np.arange(40) * 10**9
    X = sp.csr_array((np.ones(40), places, np.arange(41)), shape=(40, 10**12))
    with pytest.raises(MemoryError):
        call(X)


class _Endless:
    """An operator whose vectors do not fit into any memory."""

    shape, dtype = (10**12, 10**12), np.float64

    def matvec(self, x):
        raise AssertionError("there is no such vector")


def test_direct_calls_of_the_core_are_checked(X):
    """Whatever reaches the core is checked there again."""
    from favard import _core

    task = {"components": 2, "solver": "auto", "tolerance": 1e-6, "products": 10, "seed": 1,
            "batch": None, "beta": None}
    for bad in ("x", 1, None, [], X.astype(int), X.astype(">f8"), ("csr", (1, 1), 1, 2, 3)):
        with pytest.raises((TypeError, ValueError)):
            _core.pca(bad, task, center=True, scale=False)
    for bad in (unaligned(X), packed(X)):
        with pytest.raises(ValueError, match="not aligned"):
            _core.pca(bad, task, center=True, scale=False)
    with pytest.raises((TypeError, ValueError)):
        _core.multiply(X, np.ones((5, 2)))
    with pytest.raises(ValueError, match="state"):
        _core.Stream.from_bytes(b"nonsense", False)
    with pytest.raises(ValueError, match="solver: simplex is none of"):
        _core.pca(X, {**task, "solver": "simplex"}, center=True, scale=False)


def _broken(X, form):
    """Matrices with pointers that SciPy's own code would follow to wherever they lead."""
    for place, value in ((2, 10_000), (2, -5), (-1, 1 << 20), (0, 3)):
        A = form(X)
        A.indptr[place] = value
        yield A
    A = form(X)
    A.indptr = A.indptr[:-1]
    yield A


@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_array, sp.csr_matrix, sp.bsr_array])
def test_broken_pointers_do_not_reach_scipy(form, X):
    y, transposes = X[:, 0], (sp.csc_array, sp.csr_array)
    uses = (
        lambda A: favard.PCA(1).fit(A),
        lambda A: favard.TruncatedSVD(1).fit(A),
        lambda A: favard.IncrementalPCA(1).fit(A),
        lambda A: favard.LeastSquares().fit(A, y),
        lambda A: favard.Kaczmarz().fit(A, y),
        lambda A: favard.SubspaceTracker(1).fit(A),
        lambda A: favard.MatrixCompletion(1).fit(A),
        lambda A: favard.svds(A, k=1),
        lambda A: favard.eigsh(A, k=1),
        lambda A: favard.PhaseRetrieval().fit(A, y**2),
        lambda A: favard.lsmr(A, y),
    )
    for use in uses:
        for A in _broken(X, form):
            with pytest.raises(ValueError, match="indptr"):
                use(A)
    if form in transposes:
        # Also where the indices are not sorted, and those of a matrix that is converted.
        A = form(X)
        A.indices[:2] = A.indices[1::-1].copy()
        A.has_sorted_indices = A.has_canonical_format = False
        A.indptr[2] = 10_000
        with pytest.raises(ValueError, match="10000"):
            favard.svds(A, k=1)
        B = sp.csc_array(X)
        B.indices[3] = 1_000_000
        for use in (favard.IncrementalPCA(1).fit, favard.SubspaceTracker(1).fit):
            with pytest.raises(ValueError, match="indices of the CSC"):
                use(B)
        with pytest.raises(ValueError, match="indices of the CSC"):
            favard.Kaczmarz().fit(B, y)
