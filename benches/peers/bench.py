"""Everybody on every data set; see run.py, which makes the environment and calls this."""

import argparse
import datetime
import json
import os
import platform
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

COMPONENTS = (1, 10, 50)
TOLERANCES = (1e-4, 1e-8)


def arguments():
    parser = argparse.ArgumentParser(
        prog="python3 benches/peers/run.py",
        description="favard and its peers, at the same measured residual, in one run.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="examples:\n"
        "  python3 benches/peers/run.py --quick               a smoke test, a minute\n"
        "  python3 benches/peers/run.py --only topics-10m     one of the generated sets\n"
        "  python3 benches/peers/run.py counts.npz -k 10      a file of scipy.sparse.save_npz",
    )
    parser.add_argument("files", nargs="*", help=".npz of scipy.sparse, .npy of numpy")
    parser.add_argument("--only", action="append", help="a generated set by name (repeatable)")
    parser.add_argument("--quick", action="store_true", help="two small sets, k = 1 and 10")
    parser.add_argument("-k", type=int, action="append", help="components (repeatable)")
    parser.add_argument("--tol", type=float, action="append", help="residuals (repeatable)")
    parser.add_argument("--center", choices=["yes", "no", "both"], default="both")
    parser.add_argument("--rounds", type=int, default=3, help="the shortest of so many (3)")
    parser.add_argument("--threads", type=int, default=2, help="of everybody (2)")
    parser.add_argument("--no-least-squares", action="store_true")
    parser.add_argument("-o", "--out", type=Path, help="folder of results.json, page.html, table.md")
    return parser.parse_args()


def main():
    options = arguments()
    # Before numpy is imported, here and in every worker.
    for name in ("OMP", "OPENBLAS", "MKL", "RAYON"):
        os.environ[f"{name}_NUM_THREADS"] = str(options.threads)
    import least_squares
    import report

    about = {
        "date": datetime.date.today().isoformat(),
        "command": command(sys.argv[1:]),
        "threads": options.threads,
        "rounds": options.rounds,
        "python": platform.python_version(),
        "versions": {
            name: version(name) for name in ("favard", "numpy", "scipy", "scikit-learn", "primme")
        },
    }
    out = options.out or Path("results")
    out.mkdir(parents=True, exist_ok=True)
    results = {"about": about, "cases": [], "least_squares": []}
    try:
        with tempfile.TemporaryDirectory() as folder:
            for name, make in chosen(options):
                run_set(name, make, options, Path(folder), results, out)
        if not options.no_least_squares and not options.files:
            results["least_squares"] = least_squares.run(options.quick, options.rounds, say)
    except KeyboardInterrupt:
        say("interrupted: what is finished is written")
    report.write(results, out)
    print(report.markdown(results))
    failed = [case for case in results["cases"] if not case["reached"]]
    if failed:
        sys.exit(f"favard did not reach the residual in {len(failed)} cases")


def command(arguments):
    """What was called, without where its results went."""
    kept = [a for i, a in enumerate(arguments) if a != "-o" and (i == 0 or arguments[i - 1] != "-o")]
    return " ".join(["python3 benches/peers/run.py", *kept])


def say(text):
    """A line that the next one replaces; nothing when nobody watches."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def chosen(options):
    """Names and what makes or reads them."""
    import data

    for path in options.files:
        yield Path(path).stem, Path(path)
    sets = data.QUICK if options.quick else data.SETS
    names = options.only or ([] if options.files else list(sets))
    for name in names:
        if name not in sets:
            sys.exit(f"no data set {name}: one of {', '.join(sets)}")
        yield name, sets[name]


def save(name, make, folder):
    import numpy as np
    import scipy.sparse as sp

    if isinstance(make, Path):
        if make.suffix == ".npy":
            return make, False
        return make, True
    say(f"{name}: making the data")
    matrix = make()
    path = folder / (f"{name}.npz" if sp.issparse(matrix) else f"{name}.npy")
    if sp.issparse(matrix):
        sp.save_npz(path, matrix, compressed=False)
    else:
        np.save(path, matrix)
    return path, sp.issparse(matrix)


def run_set(name, make, options, folder, results, out):
    import report
    from case import Worker, solve
    from solvers import peers

    path, is_sparse = save(name, make, folder)
    workers = {"favard": Worker("favard", path), "is_sparse": is_sparse}
    shape = workers["favard"].shape
    components = options.k or ((1, 10) if options.quick else COMPONENTS)
    centers = {"yes": [True], "no": [False], "both": [True, False]}[options.center]
    try:
        guesses = {}
        for center in centers:
            for k in (k for k in components if k <= min(shape)):
                for peer in peers(shape, is_sparse, center, k):
                    if peer not in workers:
                        workers[peer] = Worker(peer, path)
                for tol in options.tol or TOLERANCES:
                    what = f"{name} k={k} {'centred' if center else 'raw'} {tol:.0e}"
                    told = lambda peer, what=what: say(f"{what}: {peer}")
                    solved = solve(workers, guesses, center, k, tol, options.rounds, told)
                    case = {
                        "set": name,
                        "shape": shape,
                        "entries": entries(path, shape, is_sparse),
                        "center": center,
                        "k": k,
                        "tol": tol,
                        "solvers": solved,
                        "reached": solved["favard"].get("residual", float("inf")) <= tol,
                    }
                    results["cases"].append(case)
                    say("")
                    print(report.line(case), flush=True)
                    report.write(results, out)  # nothing is lost when it is stopped
    finally:
        for worker in workers.values():
            if worker is not is_sparse:
                worker.close()


def entries(path, shape, is_sparse):
    if not is_sparse:
        return shape[0] * shape[1]
    import numpy as np

    with np.load(path) as file:
        return int(file["indptr"][-1]) if "indptr" in file else int(file["data"].size)


if __name__ == "__main__":
    main()
