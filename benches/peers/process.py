"""A family of solvers in a process: see worker.py."""

import json
import os
import select
import subprocess
import time
from pathlib import Path

HERE = Path(__file__).parent

# What loading, preparing and measuring a residual may take: they are no part of a run.
PATIENCE = 600


class Worker:
    """A process that is started when it is asked, and anew when it has died or was stopped."""

    def __init__(self, family, path, python, environment=None):
        self.command = [str(python), str(HERE / "worker.py"), family, str(path)]
        self.environment = environment
        self.process = self.shape = None

    def start(self):
        """Starts the process; gives its greeting, or an error."""
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            self.command, stdin=pipe, stdout=pipe, env=self.environment
        )
        self.rest = b""
        hello = self._line(PATIENCE)
        if "shape" in hello:
            self.shape = tuple(hello["shape"])
        else:
            self.close()
        return hello

    def _line(self, seconds):
        """A line of the process; {"cut": seconds} if none comes in time, an error if it has died."""
        out, end = self.process.stdout.fileno(), time.monotonic() + seconds
        while b"\n" not in self.rest:
            ready, _, _ = select.select([out], [], [], max(end - time.monotonic(), 0))
            if not ready:
                self.close()
                return {"cut": seconds}
            more = os.read(out, 1 << 20)
            if not more:
                code = self.process.wait()
                self.process = None
                return {"error": f"the process ended with {code}"}
            self.rest += more
        line, self.rest = self.rest.split(b"\n", 1)
        return json.loads(line)

    def run(self, solver, center, k, parameter, limit, is_stored=False):
        """The answer to a question, or {"cut": limit} if the solver takes longer, or an error."""
        if self.process is None:
            hello = self.start()
            if self.process is None:
                return {"error": hello.get("error", "the data could not be loaded in time")}
        ask = {"solver": solver, "center": center, "k": k, "parameter": parameter}
        ask["is_stored"] = is_stored
        try:
            self.process.stdin.write((json.dumps(ask) + "\n").encode())
            self.process.stdin.flush()
        except BrokenPipeError:
            self.close()
            return {"error": "the process has ended"}
        for expected, seconds in (("begin", PATIENCE), ("end", limit)):
            line = self._line(seconds)
            if expected not in line:
                return line
        return self._line(PATIENCE)

    def close(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None
