"""Everybody on every data set; see run.py, which makes the environment and calls this."""

import argparse
import datetime
import os
import platform
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path

#: The name of that part of the comparison for `--only`.
LEAST_SQUARES = "least-squares"


def arguments():
    parser = argparse.ArgumentParser(
        prog="python3 benches/peers/run.py",
        description="favard and its peers, at the same measured residual, in one run.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="examples:\n"
        "  python3 benches/peers/run.py --quick               a smoke test\n"
        "  python3 benches/peers/run.py                       the table of README.md: 45 minutes, and the case it is in\n"
        "  python3 benches/peers/run.py --preset full         everything, hours\n"
        "  python3 benches/peers/run.py --only topics-10m     one of the generated sets\n"
        "  python3 benches/peers/run.py counts.npz -k 10      a file of scipy.sparse.save_npz",
    )
    parser.add_argument("files", nargs="*", type=Path, help=".npz of scipy.sparse, .npy of numpy")
    parser.add_argument("--preset", choices=["quick", "readme", "full"], default="readme")
    parser.add_argument("--quick", action="store_const", dest="preset", const="quick")
    parser.add_argument("--only", action="append", help=f"a generated set by name, or {LEAST_SQUARES} (repeatable)")
    parser.add_argument("-k", type=int, action="append", help="components (repeatable)")
    parser.add_argument("--tol", type=float, action="append", help="residuals (repeatable)")
    parser.add_argument("--center", choices=["yes", "no", "both"])
    parser.add_argument("--minutes", type=float, help="begin no problem after so many")
    parser.add_argument("--rounds", type=int, default=3, help="the shortest of so many (3)")
    parser.add_argument("--threads", type=int, default=2, help="of everybody (2)")
    parser.add_argument("--no-least-squares", action="store_true")
    parser.add_argument("-o", "--out", type=Path, help="folder of the results")
    options = parser.parse_args()
    for name in ("rounds", "threads"):
        if getattr(options, name) < 1:
            parser.error(f"--{name}: {getattr(options, name)} is not a positive whole number")
    for path in options.files:
        if path.suffix not in (".npz", ".npy") or not path.is_file():
            parser.error(f"{path}: no file of .npz or .npy")
    return options


def main():
    options = arguments()
    # Before numpy is imported, here and in every worker.
    for name in ("OMP", "OPENBLAS", "MKL", "RAYON"):
        os.environ[f"{name}_NUM_THREADS"] = str(options.threads)
    import least_squares
    import overhead
    import report
    from workers import Slepc

    begin = time.monotonic()
    options.slepc = Slepc()
    if options.slepc.python is None:
        print("SLEPc is not there: apt-get install python3-slepc4py python3-scipy", flush=True)
    results = {"about": about(options), "cases": [], "least_squares": [], "left_out": []}
    out = options.out or Path("results")
    out.mkdir(parents=True, exist_ok=True)
    try:
        results["overhead"] = overhead.run()
        print(overhead.line(results["overhead"]), flush=True)
        wanted = LEAST_SQUARES in options.only if options.only else not options.files
        if wanted and not options.no_least_squares:
            is_quick = options.preset == "quick"
            results["least_squares"] = least_squares.run(is_quick, options.rounds, say)
            for problem in results["least_squares"]:
                print(least_squares.line(problem), flush=True)
        with tempfile.TemporaryDirectory() as folder:
            run_all(options, Path(folder), results, out, begin)
    except KeyboardInterrupt:
        say("interrupted: what is finished is written")
    results["about"]["minutes"] = (time.monotonic() - begin) / 60
    report.write(results, out)
    print(report.summary(results))
    failures = report.failures(results)
    if failures:
        sys.exit("FAILED\n" + "\n".join(failures))


def about(options):
    names = ("favard", "numpy", "scipy", "scikit-learn", "primme")
    versions = {name: version(name) for name in names}
    if options.slepc.version:
        versions["slepc4py"] = options.slepc.version
    return {
        "date": datetime.date.today().isoformat(),
        "command": command(sys.argv[1:]),
        "threads": options.threads,
        "rounds": options.rounds,
        "python": platform.python_version(),
        "versions": versions,
    }


def command(arguments):
    """What was called, without where its results went and where its files lie."""
    kept = [a for i, a in enumerate(arguments) if a != "-o" and (i == 0 or arguments[i - 1] != "-o")]
    kept = [Path(a).name if a.endswith((".npz", ".npy")) else a for a in kept]
    return " ".join(["python3 benches/peers/run.py", *kept])


def say(text):
    """A line that the next one replaces; nothing when nobody watches."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def problems(options):
    """(name, what makes or reads it, components, centred or not), and the residuals."""
    import data
    import presets

    preset = presets.PRESETS[options.preset]
    sets = data.SETS | data.QUICK
    centers = {"yes": presets.YES, "no": presets.NO, "both": presets.BOTH, None: None}
    center = centers[options.center]
    listed = list(preset.problems)
    if options.only or options.files:
        names = [name for name in options.only or [] if name != LEAST_SQUARES]
        listed = [(name, presets.COMPONENTS, presets.BOTH) for name in names]
    for name, _, _ in listed:
        if name not in sets:
            sys.exit(f"no data set {name}: one of {', '.join(sets)}, {LEAST_SQUARES}")
    chosen = [(p.stem, p, presets.COMPONENTS, presets.BOTH) for p in options.files]
    chosen += [(name, sets[name], k, both) for name, k, both in listed]
    return [(name, make, options.k or k, center or both) for name, make, k, both in chosen]


def save(name, make, folder):
    """The file of a set; one that was made is not made again."""
    import numpy as np
    import scipy.sparse as sp

    if isinstance(make, Path):
        return make
    for path in (folder / f"{name}.npz", folder / f"{name}.npy"):
        if path.exists():
            return path
    say(f"{name}: making the data")
    matrix = make()
    path = folder / (f"{name}.npz" if sp.issparse(matrix) else f"{name}.npy")
    if sp.issparse(matrix):
        sp.save_npz(path, matrix, compressed=False)
    else:
        np.save(path, matrix)
    return path


def run_all(options, folder, results, out, begin):
    import presets

    preset = presets.PRESETS[options.preset]
    minutes = options.minutes if options.minutes is not None else preset.minutes
    tolerances = sorted(options.tol or preset.tolerances, reverse=True)
    guesses = {}
    for name, make, components, centers in problems(options):
        if time.monotonic() - begin > 60 * minutes:
            results["left_out"].append(f"{name}, k = {', '.join(map(str, components))}")
            continue
        path = save(name, make, folder)
        is_late = lambda: time.monotonic() - begin > 60 * minutes
        run_set(name, path, components, centers, tolerances, options, guesses, results, out, is_late)


def run_set(name, path, components, centers, tolerances, options, guesses, results, out, is_late):
    import report
    from case import solve
    from workers import Workers

    is_sparse = path.suffix == ".npz"
    workers = Workers(path, options.slepc)
    count, note = describe(path, workers.shape, is_sparse)
    if note:
        print(f"{name}: {note}", flush=True)
    try:
        for k in (k for k in components if k <= min(workers.shape)):
            for center in centers:
                kind = "centred" if center else "raw"
                if is_late():
                    results["left_out"].append(f"{name}, k = {k}, {kind}")
                    continue
                told = lambda text, what=f"{name} k={k} {kind}": say(f"{what}: {text}")
                known = {(n, t): at for (s, n, t), at in guesses.items() if s == name}
                arguments = (workers, is_sparse, known, center, k, tolerances, options.rounds, told)
                for tol, solved in solve(*arguments):
                    case = {
                        "set": name,
                        "shape": workers.shape,
                        "entries": count,
                        "note": note,
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
                guesses.update({(name, n, t): at for (n, t), at in known.items()})
    finally:
        workers.close()


def describe(path, shape, is_sparse):
    """The number of entries, and a note on their type if it is not that of the comparison."""
    import numpy as np

    if not is_sparse:
        kind, count = np.load(path, mmap_mode="r").dtype, shape[0] * shape[1]
    else:
        with np.load(path) as file:
            kind = file["data"].dtype
            count = int(file["indptr"][-1]) if "indptr" in file else int(file["data"].size)
    return count, "" if kind == np.float64 else f"{kind} in the file, read as float64 by everybody"


if __name__ == "__main__":
    main()
