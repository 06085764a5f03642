#!/usr/bin/env python3
"""favard against its peers, in one run: builds the package, installs the peers, compares.

    python3 benches/peers/run.py [--quick] [--help] …

The environment is made once, under the build's target folder; the package is built anew each time.
PRIMME is compiled and needs a BLAS, SLEPc comes from Debian: where they are missing and this is run as root
on a Debian, they are installed with apt-get; elsewhere it says what they need and goes on.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import bench

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
DEBIAN = ["libopenblas-dev", "liblapack-dev", "python3-slepc4py", "python3-scipy"]
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))


def main():
    options = bench.arguments()  # a mistake in them is told before anything is built
    requirements = HERE / "requirements.txt"
    key = hashlib.sha256(requirements.read_bytes() + sys.version.encode()).hexdigest()[:12]
    home = TARGET / "favard-peers" / f"venv-{key}"
    python = home / "bin" / "python"
    if not (home / "done").exists():
        system_packages()
        venv.create(home, with_pip=True, clear=True)
        call(python, "-m", "pip", "install", "--quiet", "-r", requirements)
        (home / "done").touch()
    wheels = TARGET / "favard-peers" / "wheels"
    manifest = ROOT / "crates" / "python" / "Cargo.toml"
    build = ["-m", "maturin", "build", "--release", "--quiet", "--manifest-path", manifest]
    call(python, *build, "--out", wheels, "--interpreter", python)
    wheel = max(wheels.glob("favard-*.whl"), key=lambda path: path.stat().st_mtime)
    call(python, "-m", "pip", "install", "--quiet", "--force-reinstall", "--no-deps", wheel)
    arguments = sys.argv[1:]
    if options.out is None:
        arguments += ["-o", str(TARGET / "favard-peers" / "results")]
    sys.exit(subprocess.call([str(python), str(HERE / "bench.py"), *arguments]))


def system_packages():
    """What the peers need beyond PyPI: a BLAS to compile PRIMME with, and SLEPc."""
    installed = ["dpkg-query", "--show", *DEBIAN]
    has_apt = shutil.which("apt-get") and shutil.which("dpkg-query")
    if has_apt and subprocess.run(installed, capture_output=True, check=False).returncode == 0:
        return
    if not has_apt or os.geteuid() != 0:
        print(f"PRIMME and SLEPc need what Debian calls {' '.join(DEBIAN)}", flush=True)
        return
    os.environ["DEBIAN_FRONTEND"] = "noninteractive"
    call("apt-get", "update", "-qq")
    call("apt-get", "install", "-y", "-qq", "--no-install-recommends", *DEBIAN)


def call(*command):
    subprocess.run([str(part) for part in command], check=True)


if __name__ == "__main__":
    main()
