"""The results in lines and tables; page.py has the page with plots."""

import json
import os
import statistics

import least_squares
import page

#: Rows of the table of README.md.
ROWS = 40


def times(case):
    """How many times as long each peer took; the fastest of them first."""
    ours = case["solvers"]["favard"].get("seconds")
    peers = {
        name: result["seconds"] / ours
        for name, result in case["solvers"].items()
        if name != "favard" and ours and "seconds" in result
    }
    return dict(sorted(peers.items(), key=lambda item: item[1]))


def slower(case):
    """The peers that were cut, and how many times as long they had had by then."""
    ours = case["solvers"]["favard"].get("seconds")
    cut = {n: r["slower_than"] for n, r in case["solvers"].items() if "slower_than" in r}
    return {name: seconds / ours for name, seconds in cut.items()} if ours else {}


def label(case):
    kind = "centred" if case["center"] else "raw"
    return f"{case['set']}, k = {case['k']}, {kind}, {case['tol']:.0e}"


def failures(results):
    """What must not be: a residual not reached, or eigenvalues that a peer has and we have not."""
    told = []
    for case in results["cases"]:
        ours = case["solvers"]["favard"]
        ahead = [name for name, r in case["solvers"].items() if r.get("is_ahead")]
        if not case["reached"]:
            told.append(f"{label(case)}: {ours.get('error') or ours['residual']}")
        if ahead:
            told.append(f"{label(case)}: larger values by {', '.join(ahead)}")
    for problem in results["least_squares"]:
        reached = problem["optimality"]["favard"]
        if reached > least_squares.TARGET:
            told.append(f"least squares, {problem['problem']}: {reached:.1e}")
    return told


def line(case):
    ours = case["solvers"]["favard"]
    kind = "centred" if case["center"] else "raw"
    head = f"{case['set']:14} k={case['k']:<3}{kind:8}{case['tol']:.0e}"
    if "error" in ours:
        return f"{head}  favard: {ours['error']}"
    told = f"{1e3 * ours['seconds']:8.0f} ms {ours['passes']:5.0f} passes {ours['peak'] / 1e6:6.0f} MB"
    once = lambda name: " once" if case["solvers"][name].get("is_timed_once") else ""
    peers = [f"{name} ×{ratio:.1f}{once(name)}" for name, ratio in times(case).items()]
    peers += [f"{name} > ×{ratio:.0f}" for name, ratio in slower(case).items()]
    failed = [f"{name}: {r['error']}" for name, r in case["solvers"].items() if "error" in r]
    note = "" if case["reached"] else f"  NOT REACHED ({ours['residual']:.1e})"
    ahead = [name for name, r in case["solvers"].items() if r.get("is_ahead")]
    note += f"  MISSED VALUES that are found by {', '.join(ahead)}" if ahead else ""
    return f"{head}{told}  {'; '.join(peers)}{'  | ' + '; '.join(failed) if failed else ''}{note}"


def cell(case, prefix):
    """The fastest of a peer's settings, as a multiple of ours, in words."""
    reached = [ratio for name, ratio in times(case).items() if name.startswith(prefix)]
    cut = [ratio for name, ratio in slower(case).items() if name.startswith(prefix)]
    return f"{reached[0]:.1f}" if reached else f"> {min(cut):.0f}" if cut else "–"


def fastest(case):
    best = next(iter(times(case).items()), None)
    if best:
        return f"{best[1]:.1f} ({best[0]})"
    cut = slower(case)
    return f"> {min(cut.values()):.0f} (all)" if cut else "–"


def table(cases):
    """A line for each problem, and in a column one number for each of the residuals."""
    problems = {}
    for case in cases:
        if "error" not in case["solvers"]["favard"]:
            problem = (case["set"], case["entries"], case["center"], case["k"])
            problems.setdefault(problem, {})[case["tol"]] = case
    levels = sorted({tol for found in problems.values() for tol in found}, reverse=True)
    at = " / ".join(f"{tol:.0e}" for tol in levels)
    rows = [
        f"| data, entries | k | favard, ms, at {at} | passes | MB | × ARPACK | × PRIMME | × fastest peer |",
        "|---|---|---|---|---|---|---|---|",
    ]
    columns = [
        lambda case: f"{1e3 * case['solvers']['favard']['seconds']:.0f}",
        lambda case: f"{case['solvers']['favard']['passes']:.0f}",
        lambda case: f"{case['solvers']['favard']['peak'] / 1e6:.0f}",
        lambda case: cell(case, "ARPACK"),
        lambda case: cell(case, "PRIMME"),
        fastest,
    ]
    for (name, entries, center, k), found in problems.items():
        head = [f"{name}{'' if center else ', raw'}, {entries:,}", str(k)]
        told = [" / ".join(tell(found[tol]) if tol in found else "–" for tol in levels) for tell in columns]
        rows.append(f"| {' | '.join(head + told)} |")
    return "\n".join(rows)


def squares_table(problems):
    rows = ["| least squares | entries | favard, ms | × lsmr | × lsqr |", "|---|---|---|---|---|"]
    for p in problems:
        ratio, (height, width) = least_squares.ratios(p), p["shape"]
        rows.append(
            f"| {p['problem']}, {height:,} × {width:,} | {p['entries']:,} "
            f"| {1e3 * p['seconds']['favard']:.0f} | {ratio['lsmr']} | {ratio['lsqr']} |"
        )
    return "\n".join(rows)


def chosen(cases):
    """At most ROWS of the cases: of every set in turn the next one that tells the most."""
    wanted = [(10, 1e-8), (50, 1e-8), (10, 1e-4), (1, 1e-8), (50, 1e-4), (1, 1e-4)]
    rank = lambda c: (wanted.index((c["k"], c["tol"])) if (c["k"], c["tol"]) in wanted else 9)
    queues = {}
    for case in sorted(cases, key=lambda c: (rank(c), not c["center"])):
        queues.setdefault(case["set"], []).append(case)
    kept = []
    while len(kept) < ROWS and any(queues.values()):
        for queue in queues.values():
            if queue and len(kept) < ROWS:
                kept.append(queue.pop(0))
    names = list(dict.fromkeys(case["set"] for case in cases))
    return sorted(kept, key=lambda c: (names.index(c["set"]), not c["center"], c["k"], -c["tol"]))


def verdict(results):
    """How all cases compare, and where a peer is more than a tenth faster."""
    cases = [c for c in results["cases"] if times(c) or slower(c)]
    best = {label(c): min([*times(c).values(), *slower(c).values()]) for c in cases}
    if not best:
        return ""
    behind = [
        f"{label(c)}: {1 / best[label(c)]:.2f} times as long as {next(iter(times(c)))}"
        for c in cases
        if best[label(c)] < 1 / 1.1
    ]
    text = (
        f"In {len(best)} cases the fastest peer takes {statistics.median(best.values()):.1f} times as "
        f"long in the median, {min(best.values()):.2f} at the least; favard is more than 10 % slower "
        f"in {len(behind)}."
    )
    return "\n".join([text, *(f"- {each}" for each in behind)])


def closing(results):
    about = results["about"]
    versions = ", ".join(f"{name} {number}" for name, number in about["versions"].items())
    parts = [
        verdict(results),
        "A ratio is a peer's time over favard's, both at the residual max‖AᵀAv − s²v‖/s₁² that is "
        "measured for both in the same way; > n: cut after n times our time. MB are what a run "
        "takes beyond the data.",
    ]
    if results["left_out"]:
        parts.append(f"Not begun in the time given: {'; '.join(results['left_out'])}.")
    if "overhead" in results:
        import overhead

        parts.append(overhead.line(results["overhead"]) + ".")
    parts.append(
        f"{about['date']}, `{about['command']}`; {about['threads']} threads, best of "
        f"{about['rounds']}; Python {about['python']}, {versions}."
    )
    return "\n\n".join(part for part in parts if part)


def document(results, cases):
    parts = [table(cases)] if cases else []
    if results["least_squares"]:
        parts.append(squares_table(results["least_squares"]))
    return "\n\n".join([*parts, closing(results)]) + "\n"


def summary(results):
    """The table of README.md."""
    return document(results, chosen(results["cases"]))


def write(results, folder):
    """results.json, table.md, summary.md and page.html, each replaced as a whole."""
    texts = {
        "results.json": json.dumps(results, indent=1),
        "table.md": document(results, results["cases"]),
        "summary.md": summary(results),
        "page.html": page.page(results),
    }
    for name, text in texts.items():
        new = folder / f".{name}.new"
        new.write_text(text)
        os.replace(new, folder / name)
