"""What is shown while a run goes on."""

import sys
import time


class Progress:
    """A line on stderr that is rewritten after a step, at most ten times a second.

    A carriage return and no control codes: terminals and notebooks both show it. Called as the
    core calls a callback, and hands on to the one of the user.
    """

    def __init__(self, name, callback=None, stream=None):
        self.name = name
        self.callback = callback
        self.stream = stream
        self.shown = float("-inf")
        self.width = 0

    def __call__(self, tick, passes, residual):
        now = time.monotonic()
        if now - self.shown >= 0.1:
            self.shown = now
            self.write(f"{self.name}: step {tick}, {passes:.1f} passes, residual {residual:.1e}")
        return self.callback is not None and self.callback(tick, passes, residual)

    def write(self, text):
        """Shows a line over the last one."""
        stream = self.stream or sys.stderr
        stream.write("\r" + text.ljust(self.width))
        stream.flush()
        self.width = len(text)

    def close(self, info):
        """Shows how it ended."""
        self.write(f"{self.name}: {info.stop} after {info.passes:.1f} passes, {info!r}")
        (self.stream or sys.stderr).write("\n")


def watcher(name, verbose, callback):
    """The callback for the core, and what closes it."""
    if callback is not None and not callable(callback):
        raise TypeError(f"callback must be callable, got {type(callback).__name__}")
    if not verbose:
        return callback, lambda info: None
    progress = Progress(name, callback)
    return progress, progress.close
