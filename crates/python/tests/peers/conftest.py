"""Runs the tests that come with SciPy and scikit-learn with our functions and classes in place.

Which of them do not apply, and why, is in ``left_out.txt``; they are counted as left out, never as
passed, and an entry that matches no test is an error.
"""

from collections import Counter
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np
import pytest

HERE = Path(__file__).parent


def left_out():
    """The patterns of the tests that do not apply, with their reasons."""
    entries = []
    for line in (HERE / "left_out.txt").read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            pattern, _, reason = line.partition(" | ")
            assert reason.strip(), f"left_out.txt: no reason for {pattern}"
            entries.append((pattern.strip(), reason.strip()))
    return entries


def own(item):
    return Path(item.fspath).parent == HERE


def name_of(item):
    return f"{Path(item.fspath).stem}::{item.nodeid.partition('::')[2]}"


# scikit-learn's conftest runs with one seed and in both precisions when asked to: so do we.
@pytest.fixture
def global_random_seed():
    return 42


@pytest.fixture(params=[np.float64, np.float32], ids=["float64", "float32"])
def global_dtype(request):
    return request.param


def pytest_configure(config):
    config.addinivalue_line("markers", "parallel_threads_limit(n): of SciPy's own runs")
    config.addinivalue_line("markers", "thread_unsafe: of SciPy's own runs")
    config.addinivalue_line("markers", "left_out(reason): does not apply to us")


def pytest_collection_modifyitems(config, items):
    names = {item: name_of(item) for item in items if own(item)}
    files = {name.partition("::")[0] for name in names.values()}
    for pattern, reason in left_out():
        found = [item for item, name in names.items() if fnmatchcase(name, pattern)]
        for item in found:
            item.add_marker(pytest.mark.left_out(reason))
            item.add_marker(pytest.mark.skip(reason=f"left out: {reason}"))
        whole = not config.option.keyword and "::" not in "".join(config.args)
        if whole and not found and pattern.partition("::")[0] in files:
            raise pytest.UsageError(f"left_out.txt: nothing matches {pattern}")


def pytest_terminal_summary(terminalreporter):
    counts = Counter()
    for outcome in ("passed", "failed", "error", "skipped", "xfailed", "xpassed"):
        for report in terminalreporter.stats.get(outcome, []):
            if Path(report.nodeid.partition("::")[0]).parent.name != HERE.name:
                continue
            if outcome == "passed" and report.when != "call":
                continue
            ours = outcome == "skipped" and "left out: " in str(report.longrepr)
            peer = Path(report.nodeid.partition("::")[0]).stem
            counts[peer, "left out" if ours else outcome] += 1
    for peer in sorted({peer for peer, _ in counts}):
        parts = [f"{count} {what}" for (name, what), count in sorted(counts.items()) if name == peer]
        terminalreporter.write_line(f"peers {peer}: {', '.join(parts)}")
