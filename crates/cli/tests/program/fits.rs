//! `favard pca` and `favard svd`.

use favard_io::read;

use crate::support::{Folder, numbers, run};

const KEYS: [&str; 19] = [
    "solver",
    "reason",
    "k",
    "shape",
    "nnz",
    "eigenvalues",
    "explained_variance",
    "explained_variance_ratio",
    "singular_values",
    "residuals",
    "certified",
    "stop",
    "iterations",
    "applications",
    "passes",
    "seed",
    "threads",
    "seconds",
    "peak_memory_bytes",
];

/// A column that is 0 and a, 20 times each, has the variance 10 a²/39.
fn variance(size: f64) -> f64 {
    10.0 * size * size / 39.0
}

/// The columns are independent, so that they are the components; the sums and products of a few
/// dozen small whole numbers round by less than 100 ε.
#[track_caller]
fn close(found: &[f64], expected: &[f64]) {
    let near = |(a, b): (&f64, &f64)| (a - b).abs() <= 100.0 * f64::EPSILON * b.abs().max(1.0);
    assert!(found.len() == expected.len() && found.iter().zip(expected).all(near), "{found:?}");
}

/// Exactly the keys that are promised, and the variances of a table that is solved by hand.
#[test]
fn json_of_pca() {
    let folder = Folder::new();
    let table = folder.table();
    let json =
        run(&["pca", &table, "-k", "3", "--json", "--seed", "5", "--threads", "1"]).met().json();
    let mut keys: Vec<&str> = json.as_object().unwrap().keys().map(String::as_str).collect();
    let mut expected = KEYS.to_vec();
    keys.sort_unstable();
    expected.sort_unstable();
    assert_eq!(keys, expected);
    close(&numbers(&json["eigenvalues"]), &[9.0, 4.0, 1.0].map(variance));
    close(&[numbers(&json["explained_variance_ratio"]).iter().sum()], &[1.0]);
    assert_eq!((&json["certified"], &json["stop"]), (&true.into(), &"converged".into()));
    assert_eq!((json["seed"].as_u64(), json["threads"].as_u64()), (Some(5), Some(1)));
    assert_eq!((numbers(&json["shape"]), json["nnz"].as_u64()), (vec![40.0, 3.0], Some(120)));
}

/// The folder has its six files and no others, with the names of the data.
#[test]
fn files_of_pca() {
    let folder = Folder::new();
    let (table, out) = (folder.table(), folder.path("deep/out"));
    let text = run(&["pca", &table, "-k", "2", "-o", &out]).met().out;
    assert!(text.contains("certified: every residual") && text.contains("+be,ta"), "{text}");
    let names = ["components.csv", "components.npy", "scores.csv", "scores.npy", "summary.json"];
    assert_eq!(folder.names("deep/out"), [&names[..], &["variances.csv"]].concat());
    let components = read::<f64>(folder.join("deep/out/components.csv")).unwrap();
    assert_eq!(components.row_names.unwrap(), ["alpha", "be,ta", "gamma"]);
    assert_eq!(components.column_names.unwrap(), ["PC1", "PC2"]);
    let scores = read::<f64>(folder.join("deep/out/scores.csv")).unwrap();
    assert_eq!(scores.row_names.unwrap()[39], "row 39");
    let text = scores.matrix.into_dense().unwrap();
    let binary = read::<f64>(folder.join("deep/out/scores.npy")).unwrap();
    assert_eq!(text.view(), binary.matrix.into_dense().unwrap().view());
    // Row 1 is 9 in the first column, whose mean is 4.5.
    close(&[text.view()[[1, 0]].abs()], &[4.5]);
    let variances = read::<f64>(folder.join("deep/out/variances.csv")).unwrap();
    assert_eq!(variances.column_names.unwrap().len(), 7);
}

/// Scaled columns all have variance one; without centring the mean counts.
#[test]
fn scale_and_center() {
    let folder = Folder::new();
    let table = folder.table();
    let json = run(&["pca", &table, "-k", "3", "--scale", "--json"]).met().json();
    close(&numbers(&json["eigenvalues"]), &[1.0; 3]);
    let plain = run(&["pca", &table, "-k", "1", "--no-center", "--json"]).met().json();
    let svd = run(&["svd", &table, "-k", "1", "--json"]).met().json();
    let (plain, svd) = (numbers(&plain["eigenvalues"])[0], numbers(&svd["eigenvalues"])[0]);
    close(&[plain * 39.0 / svd], &[1.0]);
}

/// The same bits in every file on 1 and 2 threads, by an exact and by a sampled solver.
#[test]
fn threads_do_not_matter() {
    let folder = Folder::new();
    let table = folder.table();
    for (solver, batch) in [("krylov", &[][..]), ("vr", &["--batch", "8"])] {
        let outs = ["1", "2"].map(|threads| {
            let out = folder.path(&format!("{solver}{threads}"));
            let args = ["pca", &table, "-k", "1", "--solver", solver, "--threads", threads];
            run(&[&args[..], batch, &["-o", &out]].concat());
            std::fs::read(format!("{out}/components.npy")).unwrap()
        });
        assert_eq!(outs[0], outs[1]);
    }
}

/// The first command of the README: without a file there is an example with words.
#[test]
fn the_built_in_example() {
    let ran = run(&["pca"]).met();
    for word in ["topics in documents", "6000 × 3000", "PC6", "melody", "certified"] {
        assert!(ran.out.contains(word), "{word}: {}", ran.out);
    }
}

/// A budget of one pass is not enough: exit code 2, and the files are there. From them the next run
/// starts, and meets the tolerance.
#[test]
fn out_of_budget_and_on() {
    let folder = Folder::new();
    let (first, second) = (folder.path("first"), folder.path("second"));
    let args = ["pca", "-k", "3", "--solver", "power", "--max-passes", "3", "-o", &first, "--json"];
    let ran = run(&args);
    let json = ran.json();
    assert_eq!((ran.code, &json["certified"]), (Some(2), &false.into()));
    assert_eq!(folder.names("first").len(), 6);
    let start = ["pca", "-k", "3", "--solver", "krylov", "--json", "-o", &second];
    let cold = run(&start).met().json();
    let warm = run(&[&start[..], &["--start", &first]].concat()).met().json();
    assert_eq!(warm["certified"], true);
    // Both are certified to 1e-6 λ₁, so that their eigenvalues agree to twice that.
    let pairs = numbers(&cold["eigenvalues"]).into_iter().zip(numbers(&warm["eigenvalues"]));
    let largest = numbers(&cold["eigenvalues"])[0];
    assert!(pairs.into_iter().all(|(a, b)| (a - b).abs() <= 2e-6 * largest));
}

/// A start that is exact already takes no more than a few products.
#[test]
fn a_finished_run_is_a_good_start() {
    let folder = Folder::new();
    let done = folder.path("done");
    let args = ["pca", "-k", "2", "--solver", "power", "--json", "-o", &done];
    let cold = run(&args).met().json();
    let warm = run(&[&args[..], &["--start", &done]].concat()).met().json();
    let products = |json: &serde_json::Value| json["applications"].as_u64().unwrap();
    assert!(products(&warm) < products(&cold), "{} {}", products(&warm), products(&cold));
}

/// Tables without names get headers and no row names, and labels by number.
#[test]
fn without_names() {
    let folder = Folder::new();
    let path = folder.file("plain.csv", "1,0\n0,2\n4,1\n");
    let out = folder.path("out");
    let ran = run(&["svd", &path, "-o", &out]).met();
    assert!(ran.out.contains("+column 1"), "{}", ran.out);
    let text = std::fs::read_to_string(folder.join("out/scores.csv")).unwrap();
    assert!(text.starts_with("SV1,SV2\n"), "{text}");
}

/// RUST_LOG logs to stderr; the output is the same.
#[test]
fn logs_go_to_stderr() {
    let folder = Folder::new();
    let table = folder.table();
    let ran = crate::support::favard(&["pca", &table, "-k", "1", "--json"])
        .env("RUST_LOG", "info")
        .output()
        .unwrap();
    assert!(String::from_utf8(ran.stderr).unwrap().contains("loaded"));
    assert!(serde_json::from_slice::<serde_json::Value>(&ran.stdout).is_ok());
}
