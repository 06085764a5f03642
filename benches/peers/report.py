"""The results as JSON, as a table, and as a page with plots."""

import html
import json
import math
import os

COLOURS = {
    "ARPACK": "#d1495b",
    "PROPACK": "#8d6a9f",
    "LOBPCG": "#5d737e",
    "PRIMME": "#edae49",
    "PRIMME block 8": "#c78c1f",
}
OTHER = "#3f88c5"


def times(case):
    """How many times as long each peer took; the fastest of them first."""
    ours = case["solvers"]["favard"].get("seconds")
    peers = {
        name: result["seconds"] / ours
        for name, result in case["solvers"].items()
        if name != "favard" and ours and "seconds" in result
    }
    return dict(sorted(peers.items(), key=lambda item: item[1]))


def line(case):
    ours = case["solvers"]["favard"]
    head = f"{case['set']:14} k={case['k']:<3}{'centred' if case['center'] else 'raw':8}{case['tol']:.0e}"
    if "error" in ours:
        return f"{head}  favard: {ours['error']}"
    told = f"{1e3 * ours['seconds']:8.0f} ms {ours['passes']:5.0f} passes {ours['peak'] / 1e6:6.0f} MB"
    peers = "  ".join(f"{name} ×{ratio:.1f}" for name, ratio in times(case).items())
    failed = "  ".join(
        f"{name}: {r['error']}" for name, r in case["solvers"].items() if "error" in r
    )
    note = "" if case["reached"] else f"  NOT REACHED ({ours['residual']:.1e})"
    missed = [name for name, r in case["solvers"].items() if r.get("missed")]
    note += f"  OTHER VALUES: {', '.join(missed)}" if missed else ""
    return f"{head}{told}  {peers}{'  | ' + failed if failed else ''}{note}"


def markdown(results):
    """The table of README.md."""
    rows = [
        "| data | entries | centred | k | residual | favard ms | passes | MB | × ARPACK | × PRIMME | × fastest peer |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for case in results["cases"]:
        ours, peers = case["solvers"]["favard"], times(case)
        if "error" in ours:
            continue
        cell = lambda name: f"{peers[name]:.1f}" if name in peers else "–"
        best = next(iter(peers.items()), None)
        best = f"{best[1]:.1f} ({best[0]})" if best else "–"
        primme = min((v for n, v in peers.items() if n.startswith("PRIMME")), default=None)
        rows.append(
            f"| {case['set']} | {case['entries']:,} | {'yes' if case['center'] else 'no'} | {case['k']} "
            f"| {case['tol']:.0e} | {1e3 * ours['seconds']:.0f} | {ours['passes']:.0f} "
            f"| {ours['peak'] / 1e6:.0f} | {cell('ARPACK')} | {f'{primme:.1f}' if primme else '–'} | {best} |"
        )
    text = "\n".join(rows)
    if results["least_squares"]:
        text += "\n\n| least squares | entries | favard ms | × lsmr | × lsqr |\n|---|---|---|---|---|\n"
        for p in results["least_squares"]:
            s = p["seconds"]
            ratio = lambda who: f"{s[who] / s['favard']:.1f}" if who in s else "–"
            text += (
                f"| {p['problem']}, {p['shape'][0]:,} × {p['shape'][1]:,} | {p['entries']:,} "
                f"| {1e3 * s['favard']:.0f} | {ratio('lsmr')} | {ratio('lsqr')} |\n"
            )
    about = results["about"]
    versions = ", ".join(f"{name} {number}" for name, number in about["versions"].items())
    return (
        f"{text}\n\n{about['date']}, `{about['command'].strip()}`; {about['threads']} threads, "
        f"best of {about['rounds']}; {versions}.\n"
    )


def plot(cases):
    """A row for each case: the peers' times as multiples of favard's, on a logarithmic axis."""
    left, width, step = 300, 620, 22
    top = max([ratio for case in cases for ratio in times(case).values()] + [10])
    low = min([ratio for case in cases for ratio in times(case).values()] + [1])
    span = (math.floor(math.log10(low) * 2) / 2, math.ceil(math.log10(top)))
    at = lambda ratio: left + width * (math.log10(ratio) - span[0]) / (span[1] - span[0])
    height = step * len(cases) + 50
    out = [f'<svg viewBox="0 0 {left + width + 30} {height}" role="img">']
    for tick in (0.3, 1, 2, 3, 5, 10, 20, 50, 100, 1000):
        if span[0] <= math.log10(tick) <= span[1]:
            x, kind = at(tick), "one" if tick == 1 else "grid"
            out.append(f'<line class="{kind}" x1="{x:.1f}" x2="{x:.1f}" y1="10" y2="{height - 30}"/>')
            out.append(f'<text x="{x:.1f}" y="{height - 12}" text-anchor="middle">×{tick:g}</text>')
    for number, case in enumerate(cases):
        y = 24 + step * number
        kind = "centred" if case["center"] else "raw"
        label = f"{case['set']}, k = {case['k']}, {kind}, {case['tol']:.0e}"
        out.append(f'<text x="{left - 12}" y="{y + 4}" text-anchor="end">{html.escape(label)}</text>')
        for name, ratio in times(case).items():
            seconds = case["solvers"][name]["seconds"]
            title = html.escape(f"{name}: {1e3 * seconds:.0f} ms, ×{ratio:.2f}")
            colour = COLOURS.get(name, OTHER)
            out.append(
                f'<circle cx="{at(ratio):.1f}" cy="{y}" r="5" fill="{colour}"><title>{title}</title></circle>'
            )
    out.append("</svg>")
    return "".join(out)


PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>favard and its peers</title>
<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">
<style>body{{font:15px/1.5 system-ui,sans-serif;max-width:1100px;margin:2rem auto;padding:0 1rem}}
svg{{width:100%}}text{{fill:currentColor;font-size:12px}}.grid{{stroke:#8884}}.one{{stroke:currentColor}}
.key span{{display:inline-block;width:.8em;height:.8em;border-radius:50%;margin:0 .3em 0 1em}}
table{{border-collapse:collapse;font-size:13px}}td,th{{padding:.15rem .6rem;border-bottom:1px solid #8884;text-align:right}}
td:first-child,th:first-child{{text-align:left}}</style>
<h1>favard and its peers</h1><p>{about}</p>
<p>Time of a peer divided by favard's, at the same measured residual
max‖AᵀAv − s²v‖/s₁². To the right of ×1 favard is faster.</p><p class="key">{key}</p>{plot}
<table>{table}</table></html>"""


def page(results):
    about = results["about"]
    versions = ", ".join(f"{name} {number}" for name, number in about["versions"].items())
    told = f"{about['date']}, <code>{html.escape(about['command'])}</code>, {about['threads']} threads, best of {about['rounds']}; {versions}"
    key = "".join(
        f'<span style="background:{colour}"></span>{name}'
        for name, colour in [*COLOURS.items(), ("scikit-learn, numpy", OTHER)]
    )
    head = "".join(f"<th>{text}</th>" for text in ("case", "solver", "ms", "×", "residual", "passes", "MB", ""))
    rows = [f"<tr>{head}</tr>"]
    for case in results["cases"]:
        ratio = {"favard": 1.0} | times(case)
        kind = "centred" if case["center"] else "raw"
        label = f"{case['set']}, k = {case['k']}, {kind}, {case['tol']:.0e}"
        for name, r in case["solvers"].items():
            if "error" in r:
                cells = [label, name, "", "", "", "", "", html.escape(r["error"])]
            else:
                passes = "" if r["passes"] is None else f"{r['passes']:.0f}"
                note = "other values" if r.get("missed") else ""
                cells = [label, name, f"{1e3 * r['seconds']:.0f}", f"{ratio[name]:.2f}"]
                cells += [f"{r['residual']:.1e}", passes, f"{r['peak'] / 1e6:.0f}", note]
            rows.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
            label = ""
    return PAGE.format(about=told, key=key, plot=plot(results["cases"]), table="".join(rows))


def write(results, folder):
    """results.json, table.md and page.html, each replaced as a whole."""
    texts = {
        "results.json": json.dumps(results, indent=1),
        "table.md": markdown(results),
        "page.html": page(results),
    }
    for name, text in texts.items():
        new = folder / f".{name}.new"
        new.write_text(text)
        os.replace(new, folder / name)
