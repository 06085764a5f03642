//! Matrix completion: ratings of which one in five is known.
//!
//! 400 people and 300 films, three tastes, so a matrix of rank three. The entries that are known are
//! stored, all others are missing; some of the known ones are kept aside and prove that the matrix
//! was completed and not only fitted. The run is stopped in the middle, saved, and taken up.
//!
//! Run with `cargo run --release -p favard --example completion`.

use std::ops::ControlFlow;

use favard::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (people, films, rank) = (400, 300, 3);
    let tastes = Block::<f64>::gaussian(people, rank, 1);
    let traits = Block::<f64>::gaussian(films, rank, 2);
    let rating = |i: usize, j: usize| -> f64 {
        tastes.row(i).iter().zip(traits.row(j)).map(|(t, f)| t * f).sum()
    };
    let coin = Block::<f64>::gaussian(people, films, 3);
    let known: Vec<_> = (0..people)
        .flat_map(|i| (0..films).map(move |j| (i, j)))
        .filter(|&(i, j)| coin.row(i)[j] > 0.84)
        .map(|(i, j)| (i, j, rating(i, j)))
        .collect();
    let observed = MatrixCompletion::entries((people, films), &known)?;
    println!("{people} × {films}, {} entries known", known.len());

    println!("second stage      steps   residual   held-out error");
    for (name, momentum) in [("plain", false), ("momentum", true)] {
        let found = MatrixCompletion::new(rank).momentum(momentum).solve(&observed)?;
        let (steps, residual) = (found.refinement().iterations, found.residual());
        let held = found.held_out_error().unwrap_or(f64::NAN);
        println!("{name:<15} {steps:>7}   {residual:>8.1e}   {held:>14.1e}");
    }

    // Stopped after twenty steps and taken up: the same bits.
    let path = std::env::temp_dir().join(format!("favard-completion-{}", std::process::id()));
    let model = MatrixCompletion::new(rank);
    let mut steps = 0;
    let mut stop = |_: &_| {
        steps += 1;
        if steps < 20 { ControlFlow::Continue(()) } else { ControlFlow::Break(Stop::Requested) }
    };
    model.solve_saved(&observed, &Checkpoints::new().save(&path), &mut stop)?;
    let from = Checkpoints::new().resume(&path);
    let found = model.solve_saved(&observed, &from, &mut |_| ControlFlow::Continue(()))?;
    std::fs::remove_file(&path)?;
    println!("taken up: the same to the bit: {}", found == model.solve(&observed)?);
    let (i, j) = (7, 11);
    println!("rating ({i}, {j}): {:.6}, in truth {:.6}", found.predict(i, j)?, rating(i, j));
    if found.is_certified() { Ok(()) } else { Err("not certified".into()) }
}
