#!/usr/bin/env python3
"""The wheel: built by maturin, installed into a fresh environment, used from outside the repository.

    python3 crates/python/tests/wheel.py

In a profile of its own, which is quick to compile. Prints what it has seen;
fails when the wheel is not for every Python from 3.10 on, when the stubs are not inside, or when what
is installed is not what runs.
"""

import os
import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()

# What the wheel needs to be built, and what it is used with.
MAKER = "maturin==1.10.2"
USER = ["numpy==2.4.6", "scipy==1.17.1", "scikit-learn==1.9.1"]

USE = """
import sys
import numpy as np, scipy.sparse as sp
import favard
assert favard.__file__.startswith(sys.prefix), favard.__file__
X = sp.random_array((300, 200), density=0.05, format="csr", rng=np.random.default_rng(0))
pca = favard.PCA(3, tol=1e-9).fit(X)
assert pca.info_.certified and pca.transform(X).shape == (300, 3)
D = X.toarray() - X.mean(axis=0)
expected = np.linalg.svd(D, compute_uv=False)[:3]
# Within the residual: |s**2 - s'**2| <= 1e-9 s1**2.
assert (abs(pca.singular_values_**2 - expected**2) <= 1e-9 * expected[0] ** 2).all()
assert len(favard.svds(X, k=2)[1]) == 2
print(f"favard {favard.__version__} in Python {sys.version.split()[0]}: {pca.info_}")
"""


def call(*command, **options):
    return subprocess.run([str(part) for part in command], check=True, **options)


def environment(home, *packages):
    """The interpreter of a new environment with some packages."""
    venv.create(home, with_pip=True, clear=True)
    python = home / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    call(python, *pip, *packages)
    return python


def built(folder):
    """The wheel."""
    python = environment(folder / "maker", MAKER)
    manifest = ROOT / "crates" / "python" / "Cargo.toml"
    build = ["-m", "maturin", "build", "--profile", "wheel", "--locked", "--quiet"]
    build += ["--manifest-path", manifest, "--target-dir", TARGET, "--out", folder / "wheels"]
    call(python, *build, "--interpreter", sys.executable)
    (wheel,) = (folder / "wheels").glob("favard-*.whl")
    return wheel


def checked(wheel):
    """Its name and its files."""
    if "-cp310-abi3-" not in wheel.name:
        sys.exit(f"{wheel.name}: not for every Python from 3.10 on")
    with zipfile.ZipFile(wheel) as archive:
        inside = set(archive.namelist())
    source = ROOT / "crates" / "python" / "python"
    expected = {path.relative_to(source).as_posix() for path in source.rglob("*.py*")}
    expected = {name for name in expected if "__pycache__" not in name} | {"favard/py.typed"}
    missing = expected - inside
    if missing or not any(name.startswith("favard/_core") for name in inside):
        sys.exit(f"{wheel.name}: without {', '.join(sorted(missing)) or 'the core'}")
    stubs = sum(name.endswith(".pyi") for name in inside)
    size = wheel.stat().st_size / 1e6
    print(f"{wheel.name}: {size:.0f} MB, {len(inside)} files, {stubs} stubs, py.typed", flush=True)


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        wheel = built(folder)
        checked(wheel)
        python = environment(folder / "user", wheel, *USER)
        away = folder / "away"
        away.mkdir()
        clean = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
        call(python, "-c", USE, cwd=away, env=clean)


if __name__ == "__main__":
    main()
