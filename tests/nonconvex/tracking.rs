use favard_models::{SubspaceTracker, TrackingMomentum, TrackingStep};
use favard_operator::Block;

const N: usize = 60;
const K: usize = 3;

/// n rows whose mean outer product is distributed like that of s Gaussian rows with the covariance
/// I + e₁e₁ᵀ + e₂e₂ᵀ/2 + u uᵀ/5, u = cos(φ) e₃ + sin(φ) e₄: Bartlett's factor.
fn batch(s: f64, angle: f64, seed: u64) -> Block<f64> {
    let g = Block::<f64>::gaussian(N, N, seed);
    let entry = |i: usize, j: usize| {
        if j > i { g.row(i)[j] } else if j == i { (s - i as f64 - 0.5).sqrt() + g.row(i)[i] * 0.5f64.sqrt() } else { 0.0 }
    };
    let root = |x: f64| x.sqrt() - 1.0;
    let (c, d) = (angle.cos(), angle.sin());
    let scale = (N as f64 / s).sqrt();
    Block::from_fn(N, N, |i, j| {
        let along = entry(i, 2) * c + entry(i, 3) * d;
        let add = match j {
            0 => root(2.0) * entry(i, 0),
            1 => root(1.5) * entry(i, 1),
            2 => root(1.2) * along * c,
            3 => root(1.2) * along * d,
            _ => 0.0,
        };
        scale * (entry(i, j) + add)
    })
}

fn error(basis: &Block<f64>, angle: f64) -> f64 {
    let (c, d) = (angle.cos(), angle.sin());
    let mut sum = 0.0;
    for j in 0..K {
        let b = |i: usize| basis.row(i)[j];
        sum += b(0).powi(2) + b(1).powi(2) + (c * b(2) + d * b(3)).powi(2);
    }
    K as f64 - sum
}

fn run(mode: TrackingMomentum, s: f64, omega: f64, seed: u64, batches: u64) -> (f64, SubspaceTracker<f64>) {
    let mut tracker = SubspaceTracker::new(N, K).unwrap().momentum(mode);
    let (mut sum, mut count, mut on) = (0.0, 0.0, 0);
    for t in 0..batches {
        let angle = omega * t as f64;
        tracker.update(batch(s, angle, seed * 100_000 + t).as_ref()).unwrap();
        if t >= 150 {
            sum += error(tracker.basis(), angle);
            count += 1.0;
            if tracker.report().momentum { on += 1; }
        }
    }
    println!("   on {on}/{count}: {}", tracker.report());
    (sum / count, tracker)
}

#[test]
fn explore_tracking() {
    for (s, omega) in [(1e4, 0.0), (1e5, 0.0), (1e9, 0.02), (1e9, 0.05), (1e4, 0.02), (1e4, 0.05), (1e3, 0.02), (1e5, 0.02)] {
        let a = run(TrackingMomentum::Never, s, omega, 1, 450).0;
        let b = run(TrackingMomentum::Fixed(0.25), s, omega, 1, 450).0;
        let d = run(TrackingMomentum::Always, s, omega, 1, 450).0;
        let c = run(TrackingMomentum::Auto, s, omega, 1, 450).0;
        println!("s {s:e} omega {omega}: plain {a:.4e} momentum {b:.4e} always {d:.4e} auto {c:.4e}");
    }
}
