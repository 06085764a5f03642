"""The tests of a peer's module, with our names in place of the peer's."""

from importlib import import_module


def adopt(tests, package, ours):
    """Imports a module of tests while ``package`` has our objects, and returns what pytest collects.

    Parameters
    ----------
    tests : str
        The module of tests.
    package : str
        The package that the tests import the names from.
    ours : dict
        Our objects by name.
    """
    home = import_module(package)
    theirs = {name: getattr(home, name) for name in ours}
    try:
        for name, value in ours.items():
            setattr(home, name, value)
        module = import_module(tests)
    finally:
        for name, value in theirs.items():
            setattr(home, name, value)
    for name, value in ours.items():
        assert getattr(module, name) is value, f"{tests} has another {name}"
    wanted = ("test_", "Test_", "X_sparse")
    return {name: value for name, value in vars(module).items() if name.startswith(wanted)}
