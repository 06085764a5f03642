"""What Python adds: the import, and `fit` over the call of the core."""

import subprocess
import sys
import time

IMPORT = (
    "import time, numpy; begin = time.perf_counter(); import favard;"
    "print(time.perf_counter() - begin)"
)


def run(rounds=20):
    """Seconds: of the import beyond NumPy's, and of `fit` beyond the core, dense and sparse."""
    import numpy as np
    import scipy.sparse as sp

    import favard
    from favard import _core

    command = [sys.executable, "-c", IMPORT]
    loads = [float(subprocess.run(command, capture_output=True, check=True).stdout) for _ in range(5)]
    found = {"import": min(loads)}
    rng = np.random.default_rng(1)
    matrices = {
        "dense": rng.standard_normal((20_000, 50)),
        "sparse": sp.random_array((20_000, 2_000), density=0.01, format="csr", rng=rng),
    }
    for kind, x in matrices.items():
        calls = []
        original = _core.pca

        def spy(*args, **kwargs):
            begin = time.perf_counter()
            answer = original(*args, **kwargs)
            calls.append(time.perf_counter() - begin)
            return answer

        _core.pca = spy
        try:
            gaps = []
            for _ in range(rounds):
                begin = time.perf_counter()
                favard.PCA(5, random_state=1).fit(x)
                gaps.append(time.perf_counter() - begin - calls[-1])
        finally:
            _core.pca = original
        found[kind] = min(gaps)
    return found


def line(found):
    """What was found, in a line."""
    return (
        f"import favard: {1e3 * found['import']:.0f} ms more than NumPy; PCA.fit over the call of "
        f"the core: {1e3 * found['dense']:.2f} ms dense (20,000 × 50), "
        f"{1e3 * found['sparse']:.2f} ms sparse (20,000 × 2,000, 400,000 entries)"
    )
