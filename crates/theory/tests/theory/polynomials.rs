//! The polynomials: closed forms against recurrences, families from measures, the optimal combination.

use favard_theory::{
    Family, LogSign, Optimal, Recurrence, Start, Triple, chebyshev, measure, momentum,
};
use proptest::prelude::*;

use crate::support::{GOLDEN, config, slack};

proptest! {
    #![proptest_config(config("proptest-regressions/polynomials.txt"))]

    /// Lemma op with the corrected arccos: the closed form is the recurrence (errata 1.1–1.3).
    #[test]
    fn closed_form_is_the_recurrence(x in -120..=120_i32, beta in 0..=30_i32, t in 0..=300_usize) {
        let (x, beta) = (f64::from(x) / 100.0, f64::from(beta) / 100.0);
        for start in [Start::T, Start::U] {
            let steps = momentum::sequence(start, t, x, beta).unwrap();
            let value = momentum::value(start, t, x, beta).unwrap();
            let log = momentum::ln_value(start, t, x, beta).unwrap();
            // The recurrence errs by a rounding of the envelope at each of t steps, amplified up to t
            // times near the edge.
            let envelope = momentum::ln_value(Start::U, t, x.abs().max(2.0 * beta.sqrt()), beta).unwrap();
            let allowed = slack(t) * (t + 1) as f64 * envelope.value();
            // Below the normal range there are no digits to compare.
            let floor = f64::MIN_POSITIVE * (t + 1) as f64;
            prop_assert!((value - steps[t]).abs() <= allowed + floor, "{start:?} {value:e} {:e}", steps[t]);
            prop_assert!((log.value() - steps[t]).abs() <= allowed + floor, "{start:?} {log:?}");
        }
    }

    /// T_k² − (z²−1) U_{k−1}² = 1, in logarithms far outside the range of f64.
    #[test]
    fn pell_identity(z in 1001..=5000_i32, k in 1..=1_000_000_usize) {
        let z = f64::from(z) / 1000.0;
        let t = chebyshev::ln_t(k, z).unwrap().ln_abs;
        let u = chebyshev::ln_u(k - 1, z).unwrap().ln_abs;
        // ln T − ln(√(z²−1) U) = −½ ln(1 − T^{−2})
        let gap = t - u - 0.5 * ((z - 1.0).ln() + (z + 1.0).ln());
        let wanted = -0.5 * (-(-2.0 * t).exp()).ln_1p();
        // Both logarithms are about k arccosh z, each with its rounding, conditioned by 1/√(z²−1).
        let allowed = slack(0) * (1.0 + t) + 8.0 * f64::EPSILON / (z - 1.0);
        prop_assert!((gap - wanted).abs() <= allowed, "{gap:e} {wanted:e}");
    }

    /// T_{2k} = 2T_k² − 1 inside [−1, 1], where |T| ≤ 1, for degrees to 10⁶.
    #[test]
    fn doubling_inside(x in -1000..=1000_i32, k in 0..=500_000_usize) {
        let x = f64::from(x) / 1000.0;
        let (half, full) = (chebyshev::t(k, x).unwrap(), chebyshev::t(2 * k, x).unwrap());
        prop_assert!(half.abs() <= 1.0 + slack(128) * 128.0);
        // cos is evaluated at kφ: k roundings of φ.
        let allowed = slack(0) * (k + 1) as f64;
        prop_assert!((full - (2.0 * half * half - 1.0)).abs() <= allowed);
    }

    /// p_t(−x) = (−1)^t p_t(x), exactly.
    #[test]
    fn parity(x in 0..=150_i32, beta in 0..=30_i32, t in 0..=2000_usize) {
        let (x, beta) = (f64::from(x) / 100.0, f64::from(beta) / 100.0);
        for start in [Start::T, Start::U] {
            let (plus, minus) =
                (momentum::ln_value(start, t, x, beta).unwrap(), momentum::ln_value(start, t, -x, beta).unwrap());
            prop_assert_eq!(plus.ln_abs.to_bits(), minus.ln_abs.to_bits());
            prop_assert_eq!(if t % 2 == 1 { -plus.sign } else { plus.sign }, minus.sign);
        }
    }

    /// Any recurrence: its logarithmic form is its value.
    #[test]
    fn logarithms_of_any_recurrence(
        triples in proptest::collection::vec((-20..=20_i32, -20..=20_i32, -20..=20_i32), 0..=30), x in -30..=30_i32,
    ) {
        let tenth = |v: i32| f64::from(v) / 10.0;
        let triples = triples.into_iter().map(|(a, b, c)| Triple { a: tenth(a), b: tenth(b), c: tenth(c) });
        let family = Recurrence::new(triples.collect()).unwrap();
        let values = family.values(tenth(x)).unwrap();
        let logs = family.ln_values(tenth(x)).unwrap();
        for (value, log) in values.iter().zip(logs) {
            prop_assert!((log.value() - value).abs() <= slack(0) * value.abs());
        }
    }

    /// Stieltjes: the polynomials of a sample are orthonormal on it.
    #[test]
    fn families_from_samples_are_orthonormal(
        nodes in proptest::collection::btree_set(-50..=50_i32, 3..=20), weights in proptest::collection::vec(1..=9_i32, 20),
    ) {
        let nodes: Vec<f64> = nodes.into_iter().map(|v| f64::from(v) / 10.0).collect();
        let weights: Vec<f64> = weights[..nodes.len()].iter().map(|&w| f64::from(w)).collect();
        let total: f64 = weights.iter().sum();
        // Three-term orthogonality loses digits towards the number of nodes; stay at a third.
        let degree = nodes.len() / 3;
        let family = measure::from_samples(&nodes, &weights, degree).unwrap();
        let values: Vec<Vec<f64>> =
            nodes.iter().map(|&x| family.recurrence().values(x).unwrap()).collect();
        let largest = values.iter().flatten().fold(1.0_f64, |m, q| m.max(q.abs()));
        let allowed = slack(degree) * (degree + 1) as f64 * largest * largest;
        for i in 0..=degree {
            for j in 0..=i {
                let inner: f64 = values.iter().zip(&weights).map(|(q, w)| w / total * q[i] * q[j]).sum();
                let wanted = f64::from(u8::from(i == j));
                prop_assert!((inner - wanted).abs() <= allowed, "<q{i}, q{j}> = {inner}");
            }
        }
        // As many nodes as the degree: the next norm vanishes, and that is an error.
        prop_assert!(measure::from_samples(&nodes, &weights, nodes.len()).is_err());
    }

    /// Moments and samples give the same family.
    #[test]
    fn moments_and_samples_agree(nodes in proptest::collection::btree_set(-10..=10_i32, 4..=8)) {
        let nodes: Vec<f64> = nodes.into_iter().map(|v| f64::from(v) / 10.0).collect();
        let n = nodes.len() as f64;
        let degree = 3;
        let moments: Vec<f64> = (0..=2 * degree)
            .map(|k| nodes.iter().map(|x| x.powi(k)).sum::<f64>() / n)
            .collect();
        let wanted = measure::from_samples(&nodes, &vec![1.0; nodes.len()], 3).unwrap();
        let plain = measure::from_moments(&moments).unwrap();
        let reference = Family::legendre(6).unwrap();
        // Monic Legendre moments: q_k times the product of √β.
        let modified: Vec<f64> = (0..=6)
            .map(|k| {
                let norm: f64 = reference.beta()[..k].iter().map(|b| b.sqrt()).product();
                nodes.iter().map(|&x| norm * reference.recurrence().values(x).unwrap()[k]).sum::<f64>() / n
            })
            .collect();
        let better = measure::from_modified_moments(&modified, &reference).unwrap();
        // Condition of the moment map at degree 3: products of norms over the smallest norm.
        let smallest: f64 = wanted.beta().iter().product();
        let allowed = slack(0) / smallest;
        for k in 0..3 {
            for found in [&plain, &better] {
                prop_assert!((found.alpha()[k] - wanted.alpha()[k]).abs() <= allowed);
                prop_assert!((found.beta()[k] - wanted.beta()[k]).abs() <= allowed);
            }
        }
    }

    /// Theorem optimal (erratum 4.5): E f² = 1/Σq², no other polynomial with f(λ₁) = 1 has less, and the
    /// four-term recurrence (erratum 4.7) gives the same f, shifted families included.
    #[test]
    fn optimal_is_optimal(
        top in 101..=200_i32, degree in 2..=12_usize, lower in -10..=0_i32,
        other in proptest::collection::vec(-9..=9_i32, 13), x in -10..=10_i32,
    ) {
        let (top, lower) = (f64::from(top) / 100.0, f64::from(lower) / 10.0);
        let family = Family::legendre(degree + 1).unwrap().on_interval(lower, 1.0).unwrap();
        let optimal = Optimal::new(family.clone(), top).unwrap();
        let mean_square = family.expectation(|x| optimal.values(x).unwrap()[degree].powi(2)).unwrap();
        let claimed = optimal.mean_square(degree).unwrap();
        // f is small by cancellation of terms of size 1.
        prop_assert!((mean_square - claimed).abs() <= slack(degree) * claimed.sqrt());
        // Any other: coefficients in the orthonormal basis.
        let q = family.recurrence().values(top).unwrap();
        let at_top: f64 = (0..=degree).map(|i| f64::from(other[i]) * q[i]).sum();
        prop_assume!(at_top.abs() > 1e-6);
        let norm: f64 = (0..=degree).map(|i| f64::from(other[i]).powi(2)).sum();
        prop_assert!(norm / (at_top * at_top) >= claimed * (1.0 - slack(degree)));
        let (x, f) = (f64::from(x) / 10.0, optimal.values(f64::from(x) / 10.0).unwrap());
        for n in 0..degree - 1 {
            let k = optimal.four_term(n).unwrap();
            let back = if n == 0 { 0.0 } else { f[n - 1] };
            let next = (k.a * x - k.b) * f[n + 1] + (k.c * x - k.d) * f[n] + k.e * back;
            let size = 1.0 + (k.a * x - k.b).abs() + (k.c * x - k.d).abs() + k.e.abs();
            let largest = f[..=n + 2].iter().fold(1.0_f64, |m, v| m.max(v.abs()));
            prop_assert!((next - f[n + 2]).abs() <= slack(n) * size * largest, "n = {n}");
        }
    }
}

/// Point 1 of the crate: logarithm and sign at t = 10⁶, against the asymptotic form of each region.
#[test]
fn a_million_steps() {
    let t = 1_000_000;
    // Growth: ln p_t = t ln μ + ln(1/(1−r)) up to r^t = 0.
    let d = 0.19_f64;
    let mu = f64::midpoint(1.0, d.sqrt());
    let p = momentum::ln_value(Start::U, t, 1.0, 0.2025).unwrap();
    let wanted = t as f64 * mu.ln() - (d.sqrt() / mu).ln();
    assert!((p.ln_abs - wanted).abs() <= t as f64 * 8.0 * f64::EPSILON, "{} {wanted}", p.ln_abs);
    // The edge: T = 1, U = t + 1, with the sign of (−1)^t.
    let edge = chebyshev::ln_u(t + 1, -1.0).unwrap();
    assert_eq!(edge, LogSign { ln_abs: ((t + 2) as f64).ln(), sign: -1 });
    assert_eq!(chebyshev::t(t, -1.0).unwrap(), 1.0);
    // Calm: cos tφ at φ = π/3 has period 6; t = 10⁶ ≡ 4.
    let calm = chebyshev::t(t, 0.5).unwrap();
    assert!((calm + 0.5).abs() <= t as f64 * 8.0 * f64::EPSILON, "{calm}");
    // The far ends of the range of f64.
    let huge = momentum::ln_value(Start::T, t, 1e308, 1e300).unwrap();
    let wanted = t as f64 * 1e308_f64.ln() - std::f64::consts::LN_2;
    assert!((huge.ln_abs / wanted - 1.0).abs() <= GOLDEN);
    let tiny = momentum::ln_value(Start::U, t, 1e-300, 0.0).unwrap();
    assert!((tiny.ln_abs / (t as f64 * 1e-300_f64.ln()) - 1.0).abs() <= GOLDEN);
}

/// Erratum 1.5: uniform spectrum on [−1, 1], λ₁ = 1.001, t = 50: 2.2e−2 (T), 2.5e−4 (U), 1.1e−4 (optimal),
/// and power iteration 8.96e−3 (facts F8).
#[test]
fn two_starts_on_a_spread_spectrum() {
    let rule = Family::legendre(51).unwrap();
    let loss = |start, beta| {
        let top = momentum::value(start, 50, 1.001, beta).unwrap();
        rule.expectation(|x| momentum::value(start, 50, x, beta).unwrap().powi(2)).unwrap()
            / (top * top)
    };
    assert!((loss(Start::T, 0.25) / 2.234e-2 - 1.0).abs() < 5e-4);
    assert!((loss(Start::U, 0.25) / 2.518e-4 - 1.0).abs() < 5e-4);
    assert!((loss(Start::U, 0.0) / 8.96e-3 - 1.0).abs() < 5e-4);
    let optimal = Optimal::new(Family::legendre(50).unwrap(), 1.001).unwrap();
    assert!((optimal.mean_square(50).unwrap() / 1.0889e-4 - 1.0).abs() < 5e-5);
}

/// Facts F9, "regions": p_100 (U) at x = 1 for six momenta.
#[test]
fn regions_of_the_recurrence() {
    for (beta, wanted) in [
        (0.0, 1.0),
        (0.1, 7.34e-6),
        (0.16, 2.72e-10),
        (0.2025, 6.70e-15),
        (0.245_025, 1.72e-24),
        (0.25, 7.97e-29),
    ] {
        let found = momentum::value(Start::U, 100, 1.0, beta).unwrap();
        assert!((found / wanted - 1.0).abs() < 5e-3, "beta {beta}: {found:e}");
    }
}

/// Of a small x an odd polynomial keeps all digits, at every degree: $T_n(x) = \pm\sin(n \arcsin x)$,
/// which is $\pm nx$ to the last digit, and $U_n(x) = \pm (n+1)x$. (Beyond degree 128 rounding of an
/// angle near π/2 had made 1e-14 of both, whatever x.)
#[test]
fn odd_degrees_of_a_small_number() {
    for x in [1e-14, 1e-100, 1e-200] {
        for n in [7_usize, 127, 129, 131, 1001, 100_003] {
            let sign = if n % 4 == 1 { 1.0 } else { -1.0 };
            for (found, factor) in [(chebyshev::t(n, x), n), (chebyshev::u(n, x), n + 1)] {
                let (found, wanted) = (found.unwrap(), sign * factor as f64 * x);
                // One rounding a tick of the recurrence, a few of the closed form.
                let allowed = 200.0 * f64::EPSILON * wanted.abs();
                assert!((found - wanted).abs() <= allowed, "{n} {x:e}: {found:e} {wanted:e}");
            }
        }
        // Even ones have what is left of ±1.
        assert!((chebyshev::t(1002, x).unwrap() + 1.0).abs() <= f64::EPSILON);
    }
}
