//! The pages in Chromium, headless: they load without an error, a click changes the components,
//! and they are drawn in light and in dark.
//!
//! `FAVARD_CHROMIUM` names the program; otherwise `chromium` is looked for in the PATH, and the
//! tests fail without it. `FAVARD_SCREENSHOTS` names a folder that keeps the pictures.

#[allow(dead_code)]
mod support;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use support::{Folder, run};

/// A browser that has not come to an end by then hangs.
const LONGEST: Duration = Duration::from_mins(3);

/// Keeps errors in a list, from before the page's own scripts on.
const LISTEN: &str = "<script>
window.problems = [];
window.addEventListener('error', (event) => window.problems.push(event.message));
console.error = (...words) => window.problems.push(words.join(' '));
</script>\n";

/// Clicks, and writes what happened into the document.
const CLICK: &str = "<script>
const seen = () => [...document.querySelectorAll('#scatter circle')]
  .map((circle) => circle.getAttribute('cx') + ' ' + circle.getAttribute('cy')).join();
const named = (side) => document.querySelector(`#scatter [data-axis=${side}]`);
const click = (element) => element.dispatchEvent(new MouseEvent('click', { bubbles: true }));
const report = { points: document.querySelectorAll('#scatter circle').length };
const first = seen();
report.before = named('y').textContent;
click(named('y'));
report.after = named('y').textContent;
report.clicked = first !== seen();
const second = seen();
const across = document.getElementById('x');
across.value = '1';
across.dispatchEvent(new Event('change'));
report.selected = second !== seen();
report.dark = matchMedia('(prefers-color-scheme: dark)').matches;
report.paper = getComputedStyle(document.body).backgroundColor;
report.ink = getComputedStyle(document.body).color;
report.problems = window.problems;
const pre = document.createElement('pre');
pre.id = 'verdict';
pre.textContent = JSON.stringify(report);
document.body.append(pre);
</script>\n";

/// Says what the colours are, where there is nothing to click.
const LOOK: &str = "<script>
const pre = document.createElement('pre');
pre.id = 'verdict';
pre.textContent = JSON.stringify({
  plots: document.querySelectorAll('figure > svg').length,
  dark: matchMedia('(prefers-color-scheme: dark)').matches,
  paper: getComputedStyle(document.body).backgroundColor,
  problems: window.problems,
});
document.body.append(pre);
</script>\n";

fn chromium() -> PathBuf {
    if let Some(path) = std::env::var_os("FAVARD_CHROMIUM") {
        return path.into();
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&folders)
        .flat_map(|folder| ["chromium", "chromium-browser"].map(|name| folder.join(name)))
        .find(|path| path.is_file());
    found.expect("no chromium in the PATH: install it, or name it in FAVARD_CHROMIUM")
}

/// Runs the browser on a page and gives what it printed; it never waits for ever.
fn browse(page: &Path, dark: bool, more: &[String]) -> Output {
    let profile = tempfile::tempdir().unwrap();
    let (out, err) = (profile.path().join("out"), profile.path().join("err"));
    let mut child = Command::new(chromium())
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"])
        .args(["--no-first-run", "--hide-scrollbars", "--enable-logging=stderr"])
        .args(["--disable-background-networking", "--virtual-time-budget=10000"])
        // 0 is dark, 1 is light.
        .arg(format!("--blink-settings=preferredColorScheme={}", u8::from(!dark)))
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .args(more)
        .arg(format!("file://{}", page.display()))
        .stdin(Stdio::null())
        .stdout(std::fs::File::create(&out).unwrap())
        .stderr(std::fs::File::create(&err).unwrap())
        .spawn()
        .expect("the browser starts");
    let begun = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if begun.elapsed() > LONGEST {
            child.kill().unwrap();
            panic!("the browser hangs: {}", std::fs::read_to_string(&err).unwrap_or_default());
        }
        std::thread::sleep(Duration::from_millis(50));
    };
    let [stdout, stderr] = [out, err].map(|path| std::fs::read(path).unwrap());
    assert!(status.success(), "{}", String::from_utf8_lossy(&stderr));
    Output { status, stdout, stderr }
}

/// The page with scripts before and after its own; what they wrote.
fn verdict(folder: &Folder, page: &Path, script: &str, dark: bool) -> serde_json::Value {
    let html = std::fs::read_to_string(page).unwrap();
    let html = html.replacen("<style>", &format!("{LISTEN}<style>"), 1);
    let html = html.replacen("</html>", &format!("{script}</html>"), 1);
    let copy = folder.file("copy.html", html);
    let output = browse(Path::new(&copy), dark, &["--dump-dom".to_string()]);
    let dom = String::from_utf8(output.stdout).unwrap();
    let (_, rest) = dom.split_once("<pre id=\"verdict\">").expect("the scripts ran to their end");
    let (json, _) = rest.split_once("</pre>").unwrap();
    serde_json::from_str(&json.replace("&amp;", "&").replace("&lt;", "<")).unwrap()
}

/// A picture of the page as it is, and nothing in the console.
fn photograph(page: &Path, name: &str, dark: bool, height: u32) {
    let folder = std::env::var_os("FAVARD_SCREENSHOTS")
        .map_or_else(|| PathBuf::from(env!("CARGO_TARGET_TMPDIR")), PathBuf::from);
    std::fs::create_dir_all(&folder).unwrap();
    let picture = folder.join(format!("{name}-{}.png", if dark { "dark" } else { "light" }));
    let _ = std::fs::remove_file(&picture);
    let more =
        [format!("--screenshot={}", picture.display()), format!("--window-size=900,{height}")];
    let output = browse(page, dark, &more);
    let log = String::from_utf8_lossy(&output.stderr);
    assert!(!log.contains("CONSOLE"), "{log}");
    let bytes = std::fs::read(&picture).expect("a picture");
    assert!(bytes.starts_with(b"\x89PNG") && bytes.len() > 20_000, "{} bytes", bytes.len());
    println!("{}", picture.display());
}

/// The report: loads without an error, a click and a choice move the points, both colour schemes.
#[test]
fn the_report_works_in_a_browser() {
    let folder = Folder::new();
    let page = folder.path("page.html");
    run(&["pca", "-k", "4", "--solver", "momentum", "--report", &page]).met();
    let page = Path::new(&page);
    let mut papers = Vec::new();
    for dark in [false, true] {
        let found = verdict(&folder, page, CLICK, dark);
        assert_eq!(found["problems"], serde_json::json!([]), "{found}");
        assert_eq!((&found["before"], &found["after"]), (&"PC2".into(), &"PC3".into()));
        assert_eq!((&found["clicked"], &found["selected"]), (&true.into(), &true.into()));
        assert_eq!(found["dark"], dark);
        assert!(found["points"].as_u64().unwrap() > 100, "{found}");
        assert_ne!(found["paper"], found["ink"]);
        papers.push(found["paper"].clone());
        photograph(page, "report", dark, 3300);
    }
    assert_ne!(papers[0], papers[1]);
}

/// The page of the paper's claims.
#[test]
fn the_reproduction_works_in_a_browser() {
    let folder = Folder::new();
    let out = folder.path("out");
    run(&["reproduce", "regions", "--quick", "-o", &out]).met();
    let page = folder.join("out/index.html");
    for dark in [false, true] {
        let found = verdict(&folder, &page, LOOK, dark);
        assert_eq!(found["problems"], serde_json::json!([]), "{found}");
        assert_eq!((&found["dark"], &found["plots"]), (&dark.into(), &1.into()));
        photograph(&page, "reproduce", dark, 1500);
    }
}
