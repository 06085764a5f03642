"""The results as a page with plots."""

import html
import math

import report

COLOURS = {
    "favard": "#2a9d4a",
    "ARPACK": "#d1495b",
    "PROPACK": "#8d6a9f",
    "LOBPCG": "#5d737e",
    "PRIMME": "#edae49",
    "SLEPc": "#00798c",
}
OTHER = "#3f88c5"


def colour(name):
    return next((c for prefix, c in COLOURS.items() if name.startswith(prefix)), OTHER)


def plot(cases, values, unit, one=None):
    """A row for each case, a dot for each solver on a logarithmic axis.

    `values(case)` gives (solver, number, whether it is only a lower bound, what it says).
    """
    found = [[v for v in values(case) if v[1] > 0] for case in cases]
    numbers = [v[1] for row in found for v in row] + ([one] if one else [])
    if not numbers:
        return "<p>None.</p>"
    left, width, step = 300, 620, 22
    low, high = math.floor(math.log10(min(numbers)) * 2) / 2, math.ceil(math.log10(max(numbers)))
    high = max(high, low + 1)
    at = lambda number: left + width * (math.log10(number) - low) / (high - low)
    height = step * len(cases) + 50
    out = [f'<svg viewBox="0 0 {left + width + 30} {height}" role="img">']
    ticks = [f * 10.0**e for e in range(math.floor(low), math.ceil(high) + 1) for f in (1, 2, 5)]
    for tick in ticks:
        if low <= math.log10(tick) <= high + 1e-9:
            x, kind = at(tick), "one" if tick == one else "grid"
            out.append(f'<line class="{kind}" x1="{x:.1f}" x2="{x:.1f}" y1="10" y2="{height - 30}"/>')
            text = f"×{tick:g}" if one else f"{tick:g}"
            out.append(f'<text x="{x:.1f}" y="{height - 12}" text-anchor="middle">{text}</text>')
    for number, (case, row) in enumerate(zip(cases, found)):
        y = 24 + step * number
        label = html.escape(report.label(case))
        out.append(f'<text x="{left - 12}" y="{y + 4}" text-anchor="end">{label}</text>')
        for name, value, is_bound, told in row:
            paint = f'fill="none" stroke="{colour(name)}"' if is_bound else f'fill="{colour(name)}"'
            out.append(
                f'<circle cx="{at(value):.1f}" cy="{y}" r="5" {paint}>'
                f"<title>{html.escape(f'{name}: {told} {unit}')}</title></circle>"
            )
    out.append("</svg>")
    return "".join(out)


def time_ratios(case):
    for name, ratio in report.times(case).items():
        yield name, ratio, False, f"{1e3 * case['solvers'][name]['seconds']:.0f} ms, ×{ratio:.2f}"
    for name, ratio in report.slower(case).items():
        yield name, ratio, True, f"cut after ×{ratio:.1f}"


def field(key, scale):
    def values(case):
        for name, result in case["solvers"].items():
            if result.get(key) is not None:
                yield name, result[key] / scale, False, f"{result[key] / scale:.0f}"

    return values


PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>favard and its peers</title>
<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">
<style>body{{font:15px/1.5 system-ui,sans-serif;max-width:1100px;margin:2rem auto;padding:0 1rem}}
svg{{width:100%}}text{{fill:currentColor;font-size:12px}}.grid{{stroke:#8884}}.one{{stroke:currentColor}}
.key span{{display:inline-block;width:.8em;height:.8em;border-radius:50%;margin:0 .3em 0 1em}}
table{{border-collapse:collapse;font-size:13px}}td,th{{padding:.15rem .6rem;border-bottom:1px solid #8884;text-align:right}}
td:first-child,th:first-child{{text-align:left}}</style>
<h1>favard and its peers</h1><p>{about}</p><p class="key">{key}</p>
<h2>Time</h2><p>Time of a peer divided by favard's, at the same measured residual
max‖AᵀAv − s²v‖/s₁². To the right of ×1 favard is faster; a ring is a peer that was cut.</p>{time}
<h2>Passes over the data</h2><p>AᵀA times a block is one pass.</p>{passes}
<h2>Memory</h2><p>MB that a run takes beyond the data.</p>{memory}
<h2>Least squares</h2>{squares}
<h2>All results</h2><table>{table}</table></html>"""


def row(cells, kind="td"):
    return "<tr>" + "".join(f"<{kind}>{cell}</{kind}>" for cell in cells) + "</tr>"


def squares(problems):
    if not problems:
        return "<p>Not run.</p>"
    rows = [row(("problem", "shape", "entries", "solver", "ms", "×", "‖Aᵀr‖/(‖A‖‖r‖)"), "th")]
    for p in problems:
        head = [p["problem"], " × ".join(f"{n:,}" for n in p["shape"]), f"{p['entries']:,}"]
        ours = p["seconds"]["favard"]
        for who, seconds in p["seconds"].items():
            cells = [who, f"{1e3 * seconds:.0f}", f"{seconds / ours:.2f}"]
            rows.append(row([*head, *cells, f"{p['optimality'][who]:.1e}"]))
            head = [""] * 3
        for who, why in p["failed"].items():
            told = f"cut after {why['slower_than']:.1f} s" if "slower_than" in why else why["error"]
            rows.append(row([*head, who, "", "", html.escape(told)]))
    return f"<table>{''.join(rows)}</table>"


def results_table(cases):
    rows = [row(("case", "solver", "ms", "×", "residual", "passes", "MB", "parameter", ""), "th")]
    for case in cases:
        ratio, cut, label = {"favard": 1.0} | report.times(case), report.slower(case), report.label(case)
        for name, r in case["solvers"].items():
            if name in cut or "error" in r:
                told = f"cut after ×{cut[name]:.1f}" if name in cut else html.escape(r["error"])
                cells = [label, name, "", "", "", "", "", "", told]
            else:
                passes = "" if r["passes"] is None else f"{r['passes']:.0f}"
                notes = ["timed once"] if r.get("is_timed_once") else []
                notes += ["larger values than favard"] if r.get("is_ahead") else []
                cells = [label, name, f"{1e3 * r['seconds']:.0f}", f"{ratio[name]:.2f}"]
                cells += [f"{r['residual']:.1e}", passes, f"{r['peak'] / 1e6:.0f}"]
                cells += [f"{r['parameter']:.3g}", ", ".join(notes)]
            rows.append(row(cells))
            label = ""
    return "".join(rows)


def page(results):
    about, cases = results["about"], results["cases"]
    versions = ", ".join(f"{name} {number}" for name, number in about["versions"].items())
    told = f"{about['date']}, <code>{html.escape(about['command'])}</code>, "
    told += f"{about['threads']} threads, best of {about['rounds']}; {versions}"
    key = "".join(
        f'<span style="background:{colour}"></span>{name}'
        for name, colour in [*COLOURS.items(), ("scikit-learn, NumPy", OTHER)]
    )
    return PAGE.format(
        about=told,
        key=key,
        time=plot(cases, time_ratios, "", one=1),
        passes=plot(cases, field("passes", 1), "passes"),
        memory=plot(cases, field("peak", 1e6), "MB"),
        squares=squares(results["least_squares"]),
        table=results_table(cases),
    )
