//! `favard plan` and `favard spectrum`.

use crate::support::{Folder, numbers, run};

/// β = λ₂²/4; without noise one sample a step is enough; no guarantee from a random start, and both
/// columns from a close one.
#[test]
fn plan_from_numbers() {
    let args = ["plan", "--lambda1", "1", "--lambda2", "0.9", "--dim", "10", "--json"];
    let json = run(&args).met().json();
    let practical = &json["mini_batch"]["practical"];
    assert_eq!(practical["beta"].as_f64(), Some(0.9 * 0.9 / 4.0));
    assert_eq!(practical["batch"].as_f64(), Some(1.0));
    assert!(json["mini_batch"]["guaranteed"].is_null() && json["variance_reduced"].is_null());
    assert!(json["mini_batch"]["why_not"].as_str().unwrap().contains("cos2"));
    let more = ["--noise", "10.097", "--kappa", "8.096", "--cos2", "0.5", "--rows", "1000000"];
    let json = run(&[&args[..], &more].concat()).met().json();
    // The rule 2C/ε of the planner's own documentation: 195511.
    let batch = json["mini_batch"]["practical"]["batch"].as_f64().unwrap();
    assert!((batch / 195_511.0 - 1.0).abs() < 1e-3, "{batch}");
    assert!(json["mini_batch"]["guaranteed"]["batch"].as_f64().unwrap() > batch);
    assert!(json["variance_reduced"]["practical"]["passes"].as_f64().unwrap() > 0.0);
    let text = run(&[&args[..7], &more].concat()).met().out;
    assert!(
        text.contains("practical  guaranteed") && text.contains("epochs with an anchor"),
        "{text}"
    );
}

/// From a file: the eigenvalues are those of `favard pca`, within the residuals.
#[test]
fn plan_from_a_file() {
    let folder = Folder::new();
    let table = folder.table();
    let json = run(&["plan", &table, "--json"]).met().json();
    let fit = run(&["pca", &table, "-k", "2", "--json"]).met().json();
    let values = numbers(&fit["eigenvalues"]);
    let residuals = numbers(&json["estimates"]["residuals"]);
    for (j, name) in ["lambda1", "lambda2"].into_iter().enumerate() {
        let found = json["estimates"][name].as_f64().unwrap();
        let room = residuals[j] + 1e-6 * values[0];
        assert!((found - values[j]).abs() <= room, "{found} {values:?}");
    }
}

/// What a plan cannot be made from.
#[test]
fn no_plan() {
    run(&["plan"]).failed("give either FILE, or --lambda1 and --lambda2");
    run(&["plan", "--lambda1", "1"]).failed("give either FILE");
    run(&["plan", "--lambda1", "1", "--lambda2", "1"]).failed("no plan: ");
    run(&["plan", "--lambda1", "1", "--lambda2", "NaN"]).failed("no plan: ");
    run(&["plan", "--lambda1", "1", "--lambda2", "0.5", "--epsilon", "2"]).failed("epsilon");
}

/// The eigenvalues are those of `favard pca`, and every one is in a bin. The shares add up to one
/// exactly, but for rounding.
#[test]
fn spectrum_of_the_example() {
    let json = run(&["spectrum", "-k", "3", "--json"]).met().json();
    let fit = run(&["pca", "-k", "3", "--json"]).met().json();
    let (own, theirs) = (numbers(&json["eigenvalues"]), numbers(&fit["eigenvalues"]));
    // Each is certified to 1e-6 λ₁.
    assert!(own.iter().zip(&theirs).all(|(a, b)| (a - b).abs() <= 2e-6 * theirs[0]), "{own:?}");
    assert_eq!(json["dim"].as_u64(), Some(3000));
    let bins = json["bins"].as_array().unwrap();
    let counts: Vec<f64> = bins.iter().map(|bin| bin["count"].as_f64().unwrap()).collect();
    // sin kπ is zero up to k ε, for each of 100 terms.
    assert!((counts.iter().sum::<f64>() - 3000.0).abs() < 3000.0 * 1e4 * f64::EPSILON);
    // All but five are below a tenth of the first: the bulk is in the first bins.
    assert!(counts[0] + counts[1] > 0.9 * 3000.0, "{counts:?}");
    let text = run(&["spectrum", "-k", "3"]).met().out;
    assert!(text.contains("gap/λ₁") && text.contains('█'), "{text}");
}

/// Wide data has as many eigenvalues as rows; data without variance has no spectrum.
#[test]
fn spectrum_of_other_shapes() {
    let folder = Folder::new();
    let wide = folder.file("wide.csv", "1,0,0,2\n0,3,1,0\n2,2,0,1\n");
    let json = run(&["spectrum", &wide, "--json"]).met().json();
    assert_eq!((json["dim"].as_u64(), numbers(&json["eigenvalues"]).len()), (Some(3), 3));
    let constant = folder.file("constant.csv", "1,2\n1,2\n1,2\n");
    run(&["spectrum", &constant]).failed("constant.csv: the data has no variance");
    run(&["spectrum", &wide, "-k", "0"]).failed("0 eigenvalues of 3");
    run(&["spectrum", &wide, "--probes", "0"]).failed("'--probes <N>'");
}
