//! `--report`: a page that needs nothing else.

use crate::support::{Folder, run};
use std::fmt::Write as _;

/// The page has everything it promises, asks the network for nothing, and lets no name of the data
/// become a tag.
#[test]
fn the_page_is_complete() {
    let folder = Folder::new();
    let mut text = "name,<b>x</b>,</script><script>alert(1)//,z\n".to_string();
    for i in 0..30 {
        let _ = writeln!(text, "<i>{i}</i>,{},{},{}", i % 7, i * i % 11, i % 3);
    }
    let (file, page) = (folder.file("a&b.csv", text), folder.path("page.html"));
    let args = ["pca", &file, "-k", "3", "--solver", "krylov", "--report", &page];
    let out = run(&args).met().out;
    assert!(out.contains("report in "), "{out}");
    let html = std::fs::read_to_string(&page).unwrap();
    for part in [
        "<h2>Variance",
        "<h2>Scores",
        "<h2>Loadings",
        "<h2>Certificate",
        "sin angle",
        "prefers-color-scheme",
        "@media print",
        "<svg",
        "id=\"scatter\"",
        "a&amp;b.csv",
        "&lt;b&gt;x&lt;/b&gt;",
        "--solver krylov",
    ] {
        assert!(html.contains(part), "{part}");
    }
    for part in ["<b>x", "alert(1)//</th>\"", "<i>0</i>", "src=", "href=", "url(", "@import"] {
        assert!(!html.contains(part), "{part}");
    }
    // The two scripts of the page and no third.
    assert_eq!((html.matches("<script").count(), html.matches("</script>").count()), (2, 2));
    // The text of the plots has the colour of the page.
    assert!(html.contains("currentColor") && !html.contains("#000000"));
}

/// The course of an iteration is drawn; a direct method has none.
#[test]
fn convergence_is_drawn_where_there_is_any() {
    let folder = Folder::new();
    let page = folder.path("page.html");
    let read = || std::fs::read_to_string(&page).unwrap();
    run(&["pca", "-k", "2", "--solver", "power", "--report", &page]).met();
    assert!(read().contains("residual / λ₁") && read().contains("melody"));
    let table = folder.table();
    run(&["svd", &table, "-k", "2", "--solver", "exact", "--report", &page]).met();
    assert!(read().contains("there are no steps to show") && read().contains("Singular vectors"));
    // A space of Krylov that is the whole space at once is no direct method.
    run(&["svd", &table, "-k", "2", "--solver", "krylov", "--report", &page]).met();
    assert!(!read().contains("A direct method"));
}

/// That not every row is a point is said.
#[test]
fn a_sample_of_the_scores_says_so() {
    let folder = Folder::new();
    let page = folder.path("page.html");
    for (rows, said) in [(2000, None), (2001, Some("1001 of 2001 rows, at equal distances"))] {
        let text = "1,5\n2,3\n4,4\n".repeat(rows / 3 + 1);
        let text: Vec<&str> = text.lines().take(rows).collect();
        let text = text.join("\n");
        let data = folder.file("data.csv", text);
        run(&["pca", &data, "-k", "1", "--report", &page]).met();
        let html = std::fs::read_to_string(&page).unwrap();
        assert_eq!(html.contains("at equal distances"), said.is_some());
        assert!(said.is_none_or(|said| html.contains(said)));
    }
}

/// Rows of 40 columns whose sizes fall like 1/√j.
fn noisy(folder: &Folder, rows: u32) -> String {
    let mut text = String::new();
    for i in 0..rows {
        let value = |j: u32| {
            let mixed = i.wrapping_mul(7919).wrapping_add(j.wrapping_mul(104_729));
            let more = i.wrapping_mul(i).wrapping_mul(j + 3).wrapping_mul(31);
            f64::from(mixed.wrapping_add(more) % 1009) / 1009.0
        };
        let row = (0..40).map(|j| format!("{:.6}", value(j) / f64::from(j + 1).sqrt()));
        let _ = writeln!(text, "{}", row.collect::<Vec<_>>().join(","));
    }
    folder.file("data.csv", text)
}

/// The theory's line is drawn where the theory has one: the polynomial's slope, the factor of an epoch,
/// the noise ball.
#[test]
fn the_theory_is_drawn() {
    let folder = Folder::new();
    let page = folder.path("page.html");
    let data = noisy(&folder, 600);
    for (command, solver, tol, words) in [
        ("pca", "power", "1e-5", "theory: the power iteration, λ₊/λ = "),
        ("pca", "momentum", "1e-5", "theory: momentum with β = λ²/4"),
        ("pca", "vr", "1e-11", "theory: epochs of "),
        ("pca", "vr-pca", "1e-11", "theory: epochs of "),
        ("svd", "vr", "1e-11", "theory: epochs of "),
        ("pca", "minibatch", "1e-3", "theory: the noise ball of batches of 60, sin = "),
        ("pca", "oja", "1e-1", "theory: Oja's rule with η = "),
        ("svd", "oja", "1e-1", "theory: Oja's rule with η = "),
    ] {
        let args = [command, &data, "-k", "1", "--solver", solver, "--tol", tol, "--report", &page];
        let sampled = !matches!(solver, "power" | "momentum");
        let batch = if sampled { &["--batch", "60"][..] } else { &[] };
        let ran = run(&[&args[..], batch].concat());
        assert!(matches!(ran.code, Some(0 | 2)), "{solver}: {}", ran.err);
        let html = std::fs::read_to_string(&page).unwrap();
        assert!(html.contains(words), "{command} {solver}: {}", html.split("<h2>").nth(2).unwrap());
    }
}

/// The residual of Oja's answer, recomputed from all rows, keeps to the theory's bound, which is on its
/// mean square: by Markov's inequality one seed in 100 is off by more than 10. From a sample of the rows,
/// and from all of them. After a start that is given only the noise ball is known.
#[test]
fn the_bound_of_ojas_rule_holds() {
    let folder = Folder::new();
    let (page, out) = (folder.path("page.html"), folder.path("out"));
    for (rows, batch, tol) in [(600, "10", "0.1"), (600, "1", "0.2"), (4000, "10", "0.05")] {
        let data = noisy(&folder, rows);
        let args = ["pca", &data, "-k", "1", "--solver", "oja", "--batch", batch, "--tol", tol];
        let ran = run(&[&args[..], &["--report", &page, "-o", &out, "--json"]].concat());
        assert!(matches!(ran.code, Some(0 | 2)), "{}", ran.err);
        let html = std::fs::read_to_string(&page).unwrap();
        let most = html.split_once("at the end at most ").unwrap().1;
        let most: f64 = most.split_once('<').unwrap().0.parse().unwrap();
        let json = ran.json();
        let first = |key: &str| json[key][0].as_f64().unwrap();
        let found = first("residuals") / first("eigenvalues");
        assert!(found > 0.0 && found <= 10.0 * most, "{rows} rows: {found:e} {most:e}");
        let warm = run(&[&args[..], &["--report", &page, "--start", &out]].concat());
        assert!(matches!(warm.code, Some(0 | 2)), "{}", warm.err);
        let html = std::fs::read_to_string(&page).unwrap();
        assert!(html.contains("theory: the noise ball of Oja's rule with η = "));
    }
}

/// A page that cannot be written is an error.
#[test]
fn no_place_for_the_page() {
    let folder = Folder::new();
    let table = folder.table();
    let page = folder.path("none/page.html");
    run(&["pca", &table, "-k", "1", "--report", &page]).failed("page.html: No such file");
    // Before the work is done: the data are not even read.
    let missing = folder.path("missing.csv");
    for command in ["pca", "svd"] {
        run(&[command, &missing, "--report", &page]).failed("page.html: No such file");
        run(&[command, &missing, "--report", &folder.path(".")]).failed("is a directory");
    }
    run(&["convert", &missing, &folder.path("none/x.npy")]).failed("x.npy: No such file");
    // A page in the folder of the results, which is not there yet.
    let (out, page) = (folder.path("out"), folder.path("out/page.html"));
    run(&["pca", &table, "-k", "1", "-o", &out, "--report", &page]).met();
    assert!(folder.join("out/page.html").exists());
    let left = std::fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(left.into_iter().all(|name| !name.to_string_lossy().starts_with('.')));
}
