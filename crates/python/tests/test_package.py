"""The package itself: how long it takes to load, its types, its documentation."""

import ast
import doctest
import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import favard

MODULES = ["favard", *sorted(m.name for m in pkgutil.walk_packages(favard.__path__, "favard."))]
MODULES.remove("favard._core")  # its docstrings are Rust's
CHAPTER = Path(__file__).parents[3] / "docs" / "python.md"


def run(*arguments):
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, check=False, timeout=300
    )


def test_import_takes_little_more_than_numpy():
    """Less than 0.3 s more, the best of five: and neither SciPy nor scikit-learn is loaded."""
    code = (
        "import time, sys; import numpy; begin = time.perf_counter(); import favard;"
        "print(time.perf_counter() - begin, 'sklearn' in sys.modules, 'scipy' in sys.modules)"
    )
    found = [run("-c", code).stdout.split() for _ in range(5)]
    assert min(float(seconds) for seconds, _, _ in found) < 0.3
    assert all(loaded == ["False", "False"] for _, *loaded in found)


def test_every_name_is_there():
    for name in favard.__all__:
        assert getattr(favard, name) is not None
    assert set(favard.__all__) <= set(dir(favard))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        favard.nothing
    assert favard.__version__.count(".") == 2


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    module = importlib.import_module(name)
    failed, _ = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert failed == 0


def test_every_public_name_has_an_example_that_runs():
    names = [name for name in favard._WHERE if name != "Info"]
    for name in names:
        tests = doctest.DocTestFinder(recurse=False).find(getattr(favard, name), name)
        assert any(test.examples for test in tests), name
    for name in favard.theory.__all__:
        thing = getattr(favard.theory, name)
        tests = doctest.DocTestFinder(exclude_empty=False).find(thing, name)
        assert any(test.examples for test in tests), f"theory.{name}"


@pytest.mark.skipif(not CHAPTER.exists(), reason="not in the repository")
def test_chapter():
    failed, tried = doctest.testfile(
        str(CHAPTER), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE
    )
    assert failed == 0 and tried > 10


def test_the_stub_of_the_core_is_complete():
    """Every name of the extension module, and every method of its classes, is in _core.pyi."""
    from favard import _core

    stub = ast.parse(Path(favard.__file__).with_name("_core.pyi").read_text())
    kinds = (ast.FunctionDef, ast.ClassDef)
    told = {node.name: node for node in stub.body if isinstance(node, kinds)}
    told |= {n.target.id: n for n in stub.body if isinstance(n, ast.AnnAssign)}
    there = {name for name in dir(_core) if not name.startswith("_")} | {"__version__"}
    assert there == set(told)
    for name, node in told.items():
        if isinstance(node, ast.ClassDef):
            methods = {each.name for each in node.body if not each.name.startswith("_")}
            assert methods == {each for each in dir(getattr(_core, name)) if each[0] != "_"}


def test_stubs_say_what_there_is(tmp_path):
    """mypy's stubtest: names, parameters and their kinds agree with the package."""
    pytest.importorskip("mypy")
    config = tmp_path / "mypy.ini"
    config.write_text("[mypy]\nignore_missing_imports = True\n")
    allow = tmp_path / "allow.txt"
    # Inherited from scikit-learn at run time, told by the stubs in one place.
    allow.write_text("favard\\._.*\nfavard\\.[A-Za-z]*\\.set_.*_request\nfavard\\.__getattr__\n"
                     "favard\\.__dir__\n")
    done = run("-m", "mypy.stubtest", "favard", "--allowlist", str(allow),
               "--mypy-config-file", str(config),
               "--ignore-missing-stub", "--ignore-unused-allowlist", "--ignore-disjoint-bases")
    assert done.returncode == 0, done.stdout + done.stderr
