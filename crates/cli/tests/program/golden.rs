//! What `--json` prints, as it is in files: keys, their order, and the numbers that do not depend on
//! the machine. `FAVARD_BLESS=1` writes them anew.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value;

use crate::support::{Folder, run};

/// What differs from run to run, and the certificates: of a residual that is rounding, its direction
/// is rounding, too.
const VARYING: [&str; 4] = ["seconds", "peak_memory_bytes", "threads", "certificates"];

/// A value with everything taken out of it that another machine may have otherwise: times, memory,
/// threads, the folder, the last digits of numbers (kernels add in another order) and all digits of
/// those that are rounding only.
fn plain(value: &Value, folder: &str) -> Value {
    match value {
        Value::Object(fields) => {
            let field = |(key, value): (&String, &Value)| {
                let varies = VARYING.contains(&key.as_str());
                (key.clone(), if varies { "varies".into() } else { plain(value, folder) })
            };
            Value::Object(fields.iter().map(field).collect())
        }
        Value::Array(values) => values.iter().map(|value| plain(value, folder)).collect(),
        Value::String(text) => text.replace(folder, "DIR").into(),
        Value::Number(number) if number.is_f64() => {
            let number = number.as_f64().unwrap();
            if number.abs() < 1e-8 { "tiny".into() } else { format!("{number:.3e}").into() }
        }
        other => other.clone(),
    }
}

/// The JSON of every command.
#[test]
fn json_is_golden() {
    let folder = Folder::new();
    let table = folder.table();
    let a = folder.file("a.csv", "1,0\n0,2\n1,1\n2,-1\n");
    let b = folder.file("b.csv", "-2,-4\n4,6\n4,3\n1,-4\n");
    // x = (1, 2) solves these.
    let c = folder.file("c.csv", "1\n4\n3\n0\n");
    let mut known = String::new();
    for (i, j) in
        (1..=6).flat_map(|i| (1..=6).map(move |j| (i, j))).filter(|(i, j)| (i + 2 * j) % 4 != 0)
    {
        let _ = writeln!(known, "r{i},c{j},{}", i * j);
    }
    let known = folder.file("known.csv", known);
    let (copy, paper) = (folder.path("copy.npz"), folder.path("paper"));
    let given =
        ["--lambda1", "1", "--lambda2", "0.9", "--dim", "10", "--noise", "10", "--rows", "1000000"];
    let commands: [(&str, Vec<&str>); 11] = [
        ("pca", vec![&table, "-k", "2", "--solver", "exact"]),
        ("svd", vec![&table, "-k", "2", "--solver", "exact"]),
        ("info", vec![&table]),
        ("convert", vec![&a, &copy]),
        ("plan", given.to_vec()),
        ("spectrum", vec![&table, "-k", "2", "--bins", "4"]),
        ("lstsq", vec![&a, &b, "--intercept"]),
        ("lstsq cg", vec![&a, &b, "--method", "cg", "--ridge", "0.5"]),
        ("kaczmarz", vec![&a, &c, "--batch", "2"]),
        ("complete", vec![&known, "--rank", "1", "--holdout", "0"]),
        ("reproduce", vec!["regions", "--quick", "-o", &paper]),
    ];
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/program/json");
    for (name, args) in commands {
        let command = name.split(' ').next().unwrap();
        let json = run(&[&[command], &args[..], &["--json"]].concat()).met().json();
        let found = serde_json::to_string_pretty(&plain(&json, &folder.path(""))).unwrap() + "\n";
        let path = golden.join(format!("{}.json", name.replace(' ', "-")));
        if std::env::var_os("FAVARD_BLESS").is_some() {
            std::fs::write(&path, &found).unwrap();
        }
        let expected = std::fs::read_to_string(&path).unwrap();
        assert_eq!(found, expected, "{name}");
    }
}
