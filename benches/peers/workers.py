"""The processes of a data set."""

import os
import subprocess
import sys
from pathlib import Path

from process import Worker
from solvers import SOLVERS


class Slepc:
    """Where slepc4py is: PyPI has it as source alone, Debian built for its own interpreter."""

    def __init__(self):
        self.python = self.version = None
        self.environment = dict(os.environ)
        for name, home in (("SLEPC_DIR", "/usr/lib/slepcdir"), ("PETSC_DIR", "/usr/lib/petscdir")):
            found = sorted(Path(home).glob("*/*-real"))
            if found:
                self.environment.setdefault(name, str(found[-1]))
        code = "import scipy, slepc4py; print(slepc4py.__version__)"
        for python in (sys.executable, "/usr/bin/python3"):
            try:
                told = subprocess.run(
                    [python, "-c", code], capture_output=True, text=True, env=self.environment
                )
            except OSError:
                continue
            if told.returncode == 0:
                self.python, self.version = python, told.stdout.strip()
                break


class Workers:
    """One for each family of solvers; ours tells the shape."""

    def __init__(self, path, slepc):
        self.path, self.slepc, self.all = path, slepc, {}
        ours = self.of("favard")
        told = ours.start()
        if ours.shape is None:
            raise RuntimeError(f"{path.name}: {told.get('error', 'not loaded in time')}")
        self.shape = ours.shape

    @property
    def has_slepc(self):
        return self.slepc.python is not None

    def of(self, name):
        """The process of a solver."""
        family = SOLVERS[name].family
        if family not in self.all:
            is_slepc = family == "SLEPc"
            python = self.slepc.python if is_slepc else sys.executable
            environment = self.slepc.environment if is_slepc else None
            self.all[family] = Worker(family, self.path, python, environment)
        return self.all[family]

    def close(self):
        for worker in self.all.values():
            worker.close()
