//! Checkpoints: runs that are interrupted or killed, and taken up to the bit.

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::support::{Folder, Ran, favard, interrupt, run};

/// 300 rows of 80 columns whose sizes fall slowly: no solver is done before its budget.
fn table(folder: &Folder) -> String {
    let mut text = String::new();
    for i in 0..300_u32 {
        let row = (0..80_u32).map(|j| {
            let v = (i * 7919 + j * 104_729 + i * j * 31) % 1009;
            format!("{:.6}", f64::from(v) / 1009.0 / f64::from(j + 20))
        });
        let _ = writeln!(text, "{}", row.collect::<Vec<_>>().join(","));
    }
    folder.file("data.csv", text)
}

/// The same files to the byte, but for the time and the memory that the run took.
#[track_caller]
fn assert_same(a: &Path, b: &Path) {
    for name in ["components.csv", "components.npy", "scores.csv", "scores.npy", "variances.csv"] {
        let read = |folder: &Path| std::fs::read(folder.join(name)).unwrap();
        assert!(read(a) == read(b), "{name}");
    }
    let summary = |folder: &Path| -> Value {
        let text = std::fs::read(folder.join("summary.json")).unwrap();
        let mut json: Value = serde_json::from_slice(&text).unwrap();
        for key in ["seconds", "peak_memory_bytes", "threads"] {
            json.as_object_mut().unwrap().remove(key);
        }
        json
    };
    assert_eq!(summary(a), summary(b));
}

/// Runs the command that a stopped run printed after some words, as a shell would and with a log of its
/// steps; with another budget if need be.
#[track_caller]
fn go_on(stopped: &Ran, words: &str, file: &str, budget: Option<[&str; 2]>) -> Ran {
    let told = stopped.err.lines().find_map(|line| line.split_once(words));
    let told = told.unwrap_or_else(|| panic!("{}", stopped.err)).1;
    assert!(told.ends_with(&format!("--resume '{file}'")), "{told}");
    let [from, to] = budget.unwrap_or(["", ""]);
    let command = format!("{} {}", env!("CARGO_BIN_EXE_favard"), told.replacen(from, to, 1));
    let mut shell = Command::new("sh");
    Ran::from(shell.args(["-c", &command]).env("RUST_LOG", "info").output().unwrap())
}

/// Steps in the log of a run.
fn steps(ran: &Ran) -> usize {
    ran.err.lines().filter(|line| line.contains("record.tick")).count()
}

/// Ctrl-C finishes the step, saves, writes the partial result and says the command that goes on;
/// that command gives the bytes of an unbroken run. A path with a space stays one word.
#[test]
fn an_interrupted_run_goes_on_by_the_command_it_prints() {
    let folder = Folder::new();
    let data = table(&folder);
    for command in ["pca", "svd"] {
        let (whole, out) = (folder.path(&format!("{command} whole")), folder.path(command));
        let file = folder.path(&format!("{command} run.favard"));
        let args = [command, &data, "-k", "2", "--solver", "power", "--tol", "0"];
        let args = [&args[..], &["--max-passes", "400", "--threads", "1"]].concat();
        assert_eq!(run(&[&args[..], &["-o", &whole]].concat()).code, Some(2));
        let saved = [&args[..], &["-o", &out, "--checkpoint", &file]].concat();
        let stopped = interrupt(&saved);
        assert_eq!(stopped.code, Some(2), "{}", stopped.err);
        assert_eq!(folder.names(command).len(), 6);
        let resumed = go_on(&stopped, "to the same bits, by: favard ", &file, None);
        assert_eq!(resumed.code, Some(2), "{}", resumed.err);
        assert_same(Path::new(&whole), Path::new(&out));
        // Out of passes, it goes on with more of them.
        assert!(resumed.err.contains("a larger --max-passes by: favard"), "{}", resumed.err);
        assert_eq!(resumed.err.matches("--resume").count(), 1, "{}", resumed.err);
    }
}

/// The same for least squares: stopped, and taken up by the command that was printed, the solution is
/// that of an unbroken run, to the byte.
#[test]
fn least_squares_goes_on_by_the_command_it_prints() {
    let folder = Folder::new();
    let [a, b] = crate::interrupt::system(&folder);
    for method in ["heavy-ball", "lsmr", "cg"] {
        let (whole, out) = (folder.path(&format!("{method} whole")), folder.path(method));
        let file = folder.path(&format!("{method} run.favard"));
        let args = ["lstsq", &a, &b, "--method", method, "--tol", "0", "--max-passes", "4000"];
        let args = [&args[..], &["--threads", "1"]].concat();
        assert_eq!(run(&[&args[..], &["-o", &whole]].concat()).code, Some(2));
        let saved = [&args[..], &["-o", &out, "--checkpoint", &file]].concat();
        let stopped = interrupt(&saved);
        assert_eq!(stopped.code, Some(2), "{}", stopped.err);
        let resumed = go_on(&stopped, "to the same bits, by: favard ", &file, None);
        assert_eq!(resumed.code, Some(2), "{}", resumed.err);
        for name in ["solution.csv", "solution.npy"] {
            let read = |folder: &str| std::fs::read(Path::new(folder).join(name)).unwrap();
            assert!(read(&whole) == read(&out), "{method}: {name}");
        }
    }
    let file = folder.path("cg run.favard");
    let with = |more: &[&str]| run(&[&["lstsq", &a, &b, "--resume", &file], more].concat());
    with(&["--method", "lsmr"]).failed("checkpoint: ");
    with(&["--method", "cg", "--ridge", "1"]).failed("checkpoint: ");
    run(&["pca", &a, "--resume", &file]).failed("checkpoint: ");
}

/// Kaczmarz and completion, stopped by Ctrl-C or by their budget, and taken up by the command that was
/// printed with a larger budget: the bytes of an unbroken run with that budget. Without a tolerance these
/// runs have no end of their own, so that there is no race with Ctrl-C, wherever it stops them.
#[test]
fn endless_runs_go_on_by_the_command_they_print() {
    let folder = Folder::new();
    let [a, b] = crate::interrupt::system(&folder);
    let entries = crate::interrupt::entries(&folder);
    let rows = ["kaczmarz", &a, &b, "--batch", "8"];
    let runs: [(&str, &[&str], &[&str], &str); 4] = [
        ("averaged", &rows, &[], "--max-passes"),
        ("blocks", &rows, &["--blocks"], "--max-passes"),
        ("svrg", &rows, &["--inconsistent"], "--max-passes"),
        ("completion", &["complete", &entries, "--rank", "20"], &[], "--max-steps"),
    ];
    for (name, args, more, budget) in runs {
        let args = [args, more, &["--tol", "0", "--threads", "1", "--json"]].concat();
        for few in ["9", "100000000"] {
            let (whole, out) = (folder.path(&format!("{name} whole")), folder.path(name));
            let file = folder.path(&format!("{name} run.favard"));
            let saved = ["-o", &out, "--checkpoint", &file, budget, few];
            let saved = [&args[..], &saved].concat();
            let (stopped, words) = if few == "9" {
                (run(&saved), format!("it goes on with a larger {budget} by: favard "))
            } else {
                (interrupt(&saved), "to the same bits, by: favard ".to_string())
            };
            assert_eq!(stopped.code, Some(2), "{name}: {}", stopped.err);
            let key = if budget == "--max-steps" { "iterations" } else { "passes" };
            let used = stopped.json()[key].as_f64().unwrap();
            let enough = (used + 20.0).ceil().to_string();
            let unbroken = [&args[..], &["-o", &whole, budget, &enough]].concat();
            let unbroken = Ran::from(favard(&unbroken).env("RUST_LOG", "info").output().unwrap());
            assert_eq!(unbroken.code, Some(2), "{name}: {}", unbroken.err);
            let (from, to) = (format!("{budget} {few}"), format!("{budget} {enough}"));
            let resumed = go_on(&stopped, &words, &file, Some([&from, &to]));
            assert_eq!(resumed.code, Some(2), "{name}: {}", resumed.err);
            for file in folder.names(name).iter().filter(|file| *file != "info.json") {
                let read = |folder: &str| std::fs::read(Path::new(folder).join(file)).unwrap();
                assert!(read(&whole) == read(&out), "{name} after {few}: {file}");
            }
            let [mut whole, mut other] = [unbroken.json(), resumed.json()];
            for json in [&mut whole, &mut other] {
                let keys = json.as_object_mut().unwrap();
                keys.retain(|key, _| !matches!(&**key, "seconds" | "peak_memory_bytes"));
            }
            assert_eq!(whole, other, "{name} after {few}");
            assert!(whole[key].as_f64().unwrap() > used, "{name}: nothing was left to do");
            // The steps before the stop are not made again.
            let (all, rest) = (steps(&unbroken), steps(&resumed));
            assert!(few != "9" || 0 < rest && rest < all, "{name}: {rest} of {all} steps");
        }
    }
    let file = folder.path("svrg run.favard");
    let with = |more: &[&str]| run(&[&rows[..], &["--tol", "0", "--resume", &file], more].concat());
    with(&[]).failed("checkpoint: method is SVRG in the file and averaged here");
    with(&["--inconsistent", "--seed", "2"]).failed("checkpoint: seed is 1 in the file and 2 here");
    let other = ["complete", &entries, "--rank", "20", "--resume", &file];
    run(&other).failed("checkpoint: ");
}

/// Killed again and again at any moment, each time taken up from what is there, and at last let to
/// its end: the bytes are those of an unbroken run. A kill never leaves half a file: the next run
/// would refuse it.
#[test]
fn killed_runs_go_on() {
    let folder = Folder::new();
    let data = table(&folder);
    let mut random: u64 = 0x5eed;
    let batch = &["--batch", "40"][..];
    for (solver, passes, batch) in [("krylov", "300", &[][..]), ("vr-pca", "120", batch)] {
        let (whole, out) = (folder.path(&format!("{solver} whole")), folder.path(solver));
        let file = folder.path(&format!("{solver}.favard"));
        let args = ["pca", &data, "-k", "2", "--solver", solver, "--tol", "0"];
        let args = [&args[..], batch, &["--max-passes", passes]].concat();
        assert_eq!(run(&[&args[..], &["-o", &whole, "--threads", "1"]].concat()).code, Some(2));
        let (mut kills, mut resumed) = (0, 0);
        loop {
            let mut saved =
                [&args[..], &["-o", &out, "--checkpoint", &file, "--checkpoint-every", "0"]]
                    .concat();
            if Path::new(&file).exists() {
                saved.extend(["--resume", &file]);
                resumed += 1;
            }
            saved.extend(["--threads", if kills % 2 == 0 { "2" } else { "1" }]);
            let mut child =
                favard(&saved).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            // Longer and longer, so that it ends; 40 kills at most.
            let wait = Duration::from_micros((random >> 33) % (4000 * (kills + 5)));
            std::thread::sleep(wait);
            if kills < 40 && child.try_wait().unwrap().is_none() {
                // SIGKILL
                child.kill().unwrap();
                kills += 1;
            }
            let ended = Ran::from(child.wait_with_output().unwrap());
            match ended.code {
                None => {}
                Some(2) => break,
                code => panic!("{code:?}: {}", ended.err),
            }
        }
        assert!(kills > 0 && resumed > 0, "{kills} kills, {resumed} resumed");
        assert_same(Path::new(&whole), Path::new(&out));
        let left = folder.names(".").into_iter().filter(|name| name.contains(".tmp")).count();
        assert_eq!(left, 0, "what a kill left is removed by the next run");
    }
}

/// What cannot be taken up is one line that names the reason, and nothing is written.
#[test]
fn files_that_cannot_be_taken_up() {
    let folder = Folder::new();
    let data = table(&folder);
    let file = folder.path("run.favard");
    let args = ["pca", &data, "-k", "2", "--solver", "power", "--tol", "0", "--max-passes", "9"];
    assert_eq!(run(&[&args[..], &["--checkpoint", &file]].concat()).code, Some(2));
    let with = |more: &[&str]| run(&[&args[..], &["--resume", &file], more].concat());
    with(&["--seed", "2"]).failed("checkpoint: seed is 1 in the file and 2 here");
    with(&["--scale"]).failed("checkpoint: scaling is false in the file and true here");
    with(&["--checkpoint-every", "x"]).failed("'--checkpoint-every <SEC>'");
    with(&["--checkpoint-every=-1"]).failed("not a time of 0 or more");
    with(&["--checkpoint", &folder.path("none/run")]).failed("none/run: No such file");
    let svd = ["svd", &data, "-k", "2", "--solver", "power", "--resume", &file];
    run(&svd).failed("checkpoint: model is PCA in the file and SVD here");
    run(&["pca", &data, "--resume", &folder.path("gone")]).failed("gone: No such file");
    run(&["pca", &data, "--resume", &data]).failed("not a favard checkpoint");
    let good = std::fs::read(&file).unwrap();
    std::fs::write(&file, &good[..good.len() / 2]).unwrap();
    with(&[]).failed("the checksum does not match");
}
