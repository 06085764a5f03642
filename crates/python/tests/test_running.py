"""While a job runs: callbacks, Ctrl-C, threads, forks, memory."""

import io
import os
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as sla

import favard
from favard._progress import Progress


def python(code, *, timeout=120, **kwargs):
    """Runs a program in an interpreter of its own."""
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
        **kwargs,
    )


def test_callback_sees_every_step(sparse):
    seen = []
    model = favard.PCA(3, tol=1e-9, callback=lambda *record: seen.append(record)).fit(sparse)
    ticks, passes, residuals = map(np.array, zip(*seen))
    assert model.info_.certified
    assert (np.diff(ticks) == 1).all() and (np.diff(passes) > 0).all()
    assert residuals[-1] < residuals[0]
    # The last step, which converged, is in the history alone.
    assert len(seen) in (len(model.info_.history) - 1, len(model.info_.history))


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="this system binds no threads")
def test_threads_may_run_anywhere_after_a_job(sparse):
    """They are bound to a processor each while a job begins."""
    task = "/proc/self/task"
    for fit in (favard.PCA(3), favard.PCA(3, callback=lambda *record: time.sleep(0.02))):
        fit.fit(sparse)
        comms = {thread: open(f"{task}/{thread}/comm").read() for thread in os.listdir(task)}
        workers = [int(thread) for thread, name in comms.items() if name.startswith("favard")]
        assert len(workers) >= favard.get_num_threads()
        for worker in workers:
            assert os.sched_getaffinity(worker) == os.sched_getaffinity(0)


def test_callback_stops_and_the_result_is_kept(sparse):
    model = favard.PCA(3, tol=1e-12, callback=lambda tick, passes, residual: tick >= 3)
    model.fit(sparse)
    assert model.info_.stop == "requested" and model.info_.iterations == 3
    assert model.transform(sparse).shape == (sparse.shape[0], 3)
    solved = favard.LeastSquares(solver="lsmr", tol=0, callback=lambda t, p, r: t >= 2)
    solved.fit(sparse, np.arange(sparse.shape[0]))
    assert solved.info_.stop == "requested" and solved.coef_.shape == (sparse.shape[1],)


@pytest.mark.parametrize("make", [favard.PCA, favard.TruncatedSVD])
def test_a_callback_stops_a_fit_with_weights(make, sparse):
    """TruncatedSVD ran to its end unwatched: no callback, no bar, and Ctrl-C lost what was found."""
    weights = np.linspace(0.5, 1.5, sparse.shape[0])
    model = make(3, solver="krylov", tol=1e-12, callback=lambda tick, passes, residual: tick >= 3)
    model.fit(sparse, sample_weight=weights)
    assert model.info_.stop == "requested" and model.info_.iterations == 3
    assert model.components_.shape == (3, sparse.shape[1])


def test_an_exception_of_a_callback_comes_through(sparse):
    def callback(tick, passes, residual):
        if tick == 2:
            raise RuntimeError("enough")

    model = favard.PCA(3, tol=1e-12, callback=callback)
    with pytest.raises(RuntimeError, match="enough"):
        model.fit(sparse)
    assert model.info_.stop == "cancelled" and model.components_.shape[0] == 3
    with pytest.raises(RuntimeError, match="enough"):
        favard.svds(sparse, k=3, callback=callback)


def test_a_fit_in_a_callback(sparse):
    inner = []

    def callback(tick, passes, residual):
        inner.append(favard.PCA(1).fit(np.eye(4)).n_components_)

    favard.PCA(2, tol=1e-3, callback=callback).fit(sparse)
    assert inner and set(inner) == {1}


def test_callbacks_run_on_the_thread_that_called(sparse):
    seen = set()
    callback = lambda *_: seen.add(threading.get_ident())  # noqa: E731
    favard.PCA(2, callback=callback).fit(sparse)
    operator = sla.LinearOperator(
        (90, 90), matvec=lambda x: (callback(), 2.0 * x)[1], dtype=float
    )
    favard.eigsh(operator, k=1)
    assert seen == {threading.get_ident()}


def test_progress_is_a_bar(sparse):
    """Carriage returns and no other control characters: notebooks show it as it is. The bar starts
    empty, ends full, and never goes back."""
    stream = io.StringIO()
    with Progress("PCA", tolerance=1e-9, stream=stream) as progress:
        progress.shown = float("-inf")
        shares = []

        def callback(*record):
            progress.shown = float("-inf")  # every step is shown, however fast
            shares.append(progress.done)
            return progress.callback(*record)

        progress.info = favard.PCA(3, tol=1e-9, callback=callback).fit(sparse).info_
    text = stream.getvalue()
    assert text.startswith("\rPCA [........................]   0 %: step 1,")
    assert text.endswith("\n") and "[########################] 100 %: converged after" in text
    assert all(c >= " " or c in "\r\n" for c in text) and text.isascii()
    assert shares == sorted(shares) and shares[-1] > 0.5
    # A shorter line covers the longer one before.
    lines = text.rstrip("\n").split("\r")[1:]
    assert all(len(b) >= len(a.rstrip()) for a, b in zip(lines, lines[1:]))


@pytest.mark.parametrize("residual", [float("nan"), float("inf"), 0.0, -1.0])
def test_progress_of_odd_residuals(residual):
    """They tell nothing: the bar stays where it was."""
    progress = Progress("x", tolerance=1e-6, stream=io.StringIO())
    progress.step(1, 1.0, 1.0)
    progress.step(2, 2.0, 1e-3)
    progress.step(3, 3.0, residual)
    assert progress.done == pytest.approx(0.5)


def test_the_line_is_closed_whatever_happens(sparse, capsys):
    def callback(tick, passes, residual):
        raise RuntimeError("enough")

    for call in (
        lambda: favard.PCA(2, verbose=1, callback=callback).fit(sparse),
        lambda: favard.svds(sparse, k=2, verbose=1, callback=callback),
        lambda: favard.lsmr(sparse, np.ones(sparse.shape[0]), show=True, callback=callback),
        lambda: favard.IncrementalPCA(2, verbose=1, callback=callback).fit(sparse),
    ):
        with pytest.raises(RuntimeError, match="enough"):
            call()
        assert capsys.readouterr().err.endswith("\n")
    sparse.data[7] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        favard.PCA(2, verbose=1).fit(sparse)
    assert capsys.readouterr().err.endswith("stopped by ValueError\n")


def test_verbose(sparse, capsys):
    favard.PCA(2, verbose=1).fit(sparse)
    favard.svds(sparse, k=2, verbose=1)
    shown = capsys.readouterr()
    assert shown.out == "" and shown.err.count("100 %: converged after") == 2
    assert "PCA [" in shown.err and "svds [" in shown.err


CTRL_C = """
    import os, signal, sys, threading, time
    import numpy as np
    import favard
    # What runs in the background of a shell inherits that Ctrl-C is ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    {setup}
    sent = []

    def interrupt():
        time.sleep(0.5)
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    begin = time.monotonic()
    try:
        {run}
    except KeyboardInterrupt:
        late = time.monotonic() - sent[0]
        print("late", late)
        {after}
    else:
        print("finished after", time.monotonic() - begin)
"""


def interrupted(setup, run, after="pass"):
    """The lines after an interrupt, the quickest of at most three: other programs run here too."""
    found = []
    for _ in range(3):
        done = python(CTRL_C.format(setup=setup, run=run, after=after))
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith("late"), done.stdout
        lines = done.stdout.split("\n")
        found.append((float(lines[0].split()[1]), lines[1:]))
        if found[-1][0] < 1.0:
            break
    return min(found)


def test_ctrl_c_keeps_the_partial_result():
    """Steps of 20 ms, hundreds of them: the fit stops at the next one, and has what it found."""
    late, lines = interrupted(
        "X = np.random.default_rng(0).normal(size=(600, 500))\n"
        "    slow = lambda *record: time.sleep(0.02)\n"
        "    model = favard.PCA(3, solver='power', tol=1e-15, max_iter=10**9, callback=slow)",
        "model.fit(X)",
        "print(model.info_.stop, model.components_.shape, model.info_.certified)",
    )
    assert late < 1.0
    assert lines[0] == "cancelled (3, 500) False"


# Estimators whose tolerance is out of reach and whose steps a callback makes 20 ms long, so that none
# is done before the interrupt: (setup, fit, what is kept).
ENDLESS = {
    "TruncatedSVD": (
        "X = rng.normal(size=(600, 500))\n"
        "    model = favard.TruncatedSVD(3, solver='power', tol=1e-15, max_iter=10**9, callback=slow)",
        "model.fit(X)",
        "model.components_",
    ),
    "LeastSquares": (
        "X = rng.normal(size=(600, 500)) * np.geomspace(1, 1e-6, 500)\n"
        "    model = favard.LeastSquares(solver='heavy-ball', scaling=False, tol=1e-15,\n"
        "                                max_iter=10**9, callback=slow)",
        "model.fit(X, X[:, 0])",
        "model.coef_",
    ),
    "Kaczmarz": (
        "X = rng.normal(size=(600, 500)) * np.geomspace(1, 1e-6, 500)\n"
        "    model = favard.Kaczmarz(tol=1e-15, max_iter=10**9, callback=slow)",
        "model.fit(X, X @ np.ones(500))",
        "model.coef_",
    ),
    "IncrementalPCA": (
        "X = rng.normal(size=(100_000, 60))\n"
        "    model = favard.IncrementalPCA(3, batch_size=20, callback=slow)",
        "model.fit(X)",
        "model.components_",
    ),
}


@pytest.mark.parametrize("name", ENDLESS)
def test_ctrl_c_keeps_the_partial_result_of_every_estimator(name):
    setup, run, kept = ENDLESS[name]
    late, lines = interrupted(
        "rng = np.random.default_rng(0)\n    slow = lambda *record: time.sleep(0.02)\n    " + setup,
        run,
        f"print(model.info_.stop, np.isfinite({kept}).all(), model.info_.certified)",
    )
    assert late < 1.0
    assert lines[0] == "cancelled True False"


def test_a_callback_of_batches(dense):
    """After every batch; when it raises, the batches before are there, and nothing after."""
    seen = []
    model = favard.IncrementalPCA(2, batch_size=100, callback=lambda *r: seen.append(r)).fit(dense)
    assert [tick for tick, _, _ in seen] == [1, 2, 3, 4] and model.info_.stop == "exhausted"
    assert seen[-1][2] == model.info_.residuals.max()
    model.set_params(callback=lambda tick, passes, residual: tick == 2).fit(dense)
    assert model.info_.stop == "requested" and model.n_samples_seen_ == 200

    def callback(tick, passes, residual):
        if tick == 3:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        model.set_params(callback=callback).fit(dense)
    assert model.info_.stop == "cancelled" and model.n_samples_seen_ == 300
    assert model.components_.shape == (2, 30)
    seen.clear()
    model.set_params(callback=lambda *r: seen.append(r)).partial_fit(dense)
    assert len(seen) == 1


def test_ctrl_c_in_a_step_that_takes_long():
    """The exact solver has one step: it is left behind."""
    late, _ = interrupted(
        "model = favard.PCA(solver='exact')\n"
        "    X = np.random.default_rng(0).normal(size=(3000, 3000))",
        "model.fit(X)",
    )
    # 0.5 s for the job to stop by itself, 0.05 s between looks.
    assert late < 1.0


def test_ctrl_c_in_an_operator():
    late, _ = interrupted(
        "from scipy.sparse.linalg import LinearOperator\n"
        "    from favard import eigsh\n"
        "    d = np.arange(5000.0)\n"
        "    A = LinearOperator((5000, 5000), matvec=lambda x: d * x.ravel(), dtype=float)",
        "eigsh(A, k=3, which='SA', tol=1e-300, maxiter=10**9)",
    )
    assert late < 1.0


def test_other_threads_run_meanwhile():
    """The lock is released: a thread of Python counts while a fit runs."""
    X = np.random.default_rng(0).normal(size=(900, 900))
    counted, stop = [0], threading.Event()

    def count():
        while not stop.is_set():
            counted[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    begin = time.monotonic()
    try:
        while time.monotonic() - begin < 0.5:
            favard.PCA(solver="exact").fit(X)
    finally:
        stop.set()
        thread.join()
    # With the lock held, one count for each fit.
    assert counted[0] > 20


def test_fits_on_several_threads(sparse):
    expected = favard.PCA(3).fit(sparse).components_
    found = [None] * 4

    def fit(i):
        found[i] = favard.PCA(3).fit(sparse).components_

    threads = [threading.Thread(target=fit, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for each in found:
        np.testing.assert_array_equal(each, expected)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_fork():
    """A child has the memory of its parent and none of its threads."""
    done = python(
        """
        import os, sys
        import numpy as np
        import favard
        X = np.random.default_rng(0).normal(size=(300, 50))
        before = favard.PCA(2).fit(X).components_
        child = os.fork()
        if child == 0:
            same = np.array_equal(favard.PCA(2).fit(X).components_, before)
            os._exit(0 if same else 1)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        """
    )
    assert done.stdout.strip() == "0", done.stderr


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("kind", ["dense", "int32", "int64"])
def test_matrices_are_read_in_place(dtype, kind):
    """20 million numbers, 160 or 80 MB, and CSR's indices, 80 or 160 MB: a fit takes less than
    40 MB beside them."""
    done = python(
        f"""
        import resource
        import numpy as np, scipy.sparse as sp
        import favard
        X = np.ones((400_000, 50), dtype="{dtype}")
        X[::2] *= np.arange(50, dtype="{dtype}")
        favard.PCA(2).fit(X[:50])
        if "{kind}" != "dense":
            columns = np.tile(np.arange(50, dtype="{kind}"), 400_000)
            rows = np.arange(0, 20_000_001, 50, dtype="{kind}")
            X = sp.csr_array((X.ravel(), columns, rows), shape=X.shape)
            X.has_canonical_format = True
            # SciPy narrows indices that fit into 32 bits.
            X.indices, X.indptr = columns, rows
            for part in (X.data, X.indices, X.indptr):
                part.flags.writeable = False
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        favard.PCA(2, solver="krylov").fit(X)
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
        """
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 40_000


def test_nothing_is_kept(dense):
    """A job gives the arrays back."""
    sparse, before = sp.csr_array(dense), sys.getrefcount(dense)
    counts = sys.getrefcount(sparse.data)
    for _ in range(10):
        favard.PCA(2).fit(dense)
        favard.svds(sparse, k=2)
        favard.LeastSquares().fit(sparse, dense[:, 0])
    # A worker may still hold the last one when it has sent its result.
    for _ in range(100):
        favard.PCA(1).fit(np.eye(3))
        if (sys.getrefcount(dense), sys.getrefcount(sparse.data)) == (before, counts):
            break
    assert (sys.getrefcount(dense), sys.getrefcount(sparse.data)) == (before, counts)


def test_verbose_without_a_console(sparse, monkeypatch):
    """A program without one has no stderr; nothing is shown then."""
    monkeypatch.setattr(sys, "stderr", None)
    assert favard.PCA(2, verbose=1).fit(sparse).info_.certified
    favard.IncrementalPCA(2, verbose=1).fit(sparse)
