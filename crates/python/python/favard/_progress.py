"""What is shown while a run goes on."""

import math
import sys
import time

WIDTH = 24


class Watch:
    """The callback of a user, as a context: `info`, set inside, says how it ended."""

    def __init__(self, callback=None):
        self.callback = callback
        self.info = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None


class Progress(Watch):
    """A bar on stderr that is rewritten after a step, at most ten times a second.

    How full it is: the decades that the residual has lost since it was largest, of those that the
    tolerance asks for; never less than before. A carriage return and no control codes, and plain
    characters: terminals, notebooks and files all show it. The last line is always written, also
    when the run is interrupted or fails.
    """

    def __init__(self, name, tolerance=None, callback=None, stream=None):
        super().__init__(self.step)
        self.name, self.user, self.stream = name, callback, stream
        self.decades = -math.log10(tolerance) if tolerance and 0 < tolerance < 1 else None
        self.largest = self.done = 0.0
        self.shown = float("-inf")
        self.width = 0

    def step(self, tick, passes, residual):
        """What the core calls; hands on to the callback of the user."""
        self.advance(residual)
        now = time.monotonic()
        if now - self.shown >= 0.1:
            self.shown = now
            self.write(f"step {tick}, {passes:.1f} passes, residual {residual:.1e}")
        return self.user is not None and self.user(tick, passes, residual)

    def advance(self, residual):
        """Counts the decades; what is not finite or positive tells nothing."""
        if self.decades is None or not 0 < residual < math.inf:
            return
        self.largest = max(self.largest, residual)
        share = math.log10(self.largest / residual) / self.decades
        self.done = max(self.done, min(share, 0.99))

    def write(self, text):
        """Shows a line over the last one."""
        bar = ""
        if self.decades is not None:
            full = int(WIDTH * self.done)
            bar = f" [{'#' * full}{'.' * (WIDTH - full)}] {100 * self.done:3.0f} %"
        line = f"{self.name}{bar}: {text}"
        self.put("\r" + line.ljust(self.width))
        self.width = len(line)

    def put(self, text):
        """Writes, where there is something to write to: a program without a console has none."""
        stream = self.stream or sys.stderr
        if stream is not None:
            stream.write(text)
            stream.flush()

    def __exit__(self, kind, *_):
        info = self.info
        if info is None:
            self.write(f"stopped by {kind.__name__}" if kind else "stopped")
        else:
            self.done = 1.0 if info.stop == "converged" else self.done
            self.write(f"{info.stop} after {info.passes:.1f} passes, {info!r}")
        self.put("\n")


def watcher(name, verbose, callback, tolerance=None):
    """A context whose `callback` is for the core."""
    if callback is not None and not callable(callback):
        raise TypeError(f"callback must be callable, got {type(callback).__name__}")
    return Progress(name, tolerance, callback) if verbose else Watch(callback)
