//! golden.json, the sections about second moments (a, b, h, j, k), to the tolerances its README states.

use favard_theory::{
    Covariance, Growth, Start, anchor_factor, ball_coefficient, excess, momentum,
    second_moment::{
        Anchored, Finite, FullCovariance, GaussianRows, Propagation, Scaled, mean_square_rate,
    },
};
use ndarray::{Array1, Array2};
use serde_json::Value;

use crate::support::{GOLDEN, close, count, golden, list, number, numbers};

fn distribution(case: &Value) -> (Finite, f64) {
    let dim = count(&case["d"]);
    let points = list(&case["points"])
        .iter()
        .map(|point| {
            let flat: Vec<f64> = list(point).iter().flat_map(numbers).collect();
            Array2::from_shape_vec((dim, dim), flat).unwrap()
        })
        .collect();
    let finite = Finite::new(points, numbers(&case["probs"])).unwrap();
    (finite, number(&case["beta"]))
}

fn spectral_radius(case: &Value) -> f64 {
    numbers(&case["eigenvalues"]).iter().fold(0.0, |m, v| v.abs().max(m))
}

/// Section a: Lemma covbound and its corollaries against exact covariances (errata 3.2–3.7).
#[test]
fn section_a_covariances() {
    let golden = golden();
    let mut seen = 0;
    for case in list(&golden["a_covariance"]) {
        let name = case["name"].as_str().unwrap();
        let (noise, beta) = distribution(case);
        let lambda = spectral_radius(case);
        let (sigma, s_op) = (noise.sigma_norm().unwrap(), noise.s_op().unwrap());
        close(name, sigma, number(&case["norm_Sigma"]), GOLDEN);
        close(name, s_op, number(&case["norm_E_NtN"]), GOLDEN);
        close(name, noise.sigma2().unwrap(), number(&case["sigma2_spectral"]), GOLDEN);
        close(name, noise.frobenius(), number(&case["frob_E_NtN"]), GOLDEN);
        let root_d = (count(&case["d"]) as f64).sqrt() * sigma;
        close(name, root_d, number(&case["sqrt_d_norm_Sigma"]), GOLDEN);
        let bound = Covariance::new(lambda, beta, sigma).unwrap();
        let total = Covariance::new(lambda, beta, s_op).unwrap();
        let w0 = Array1::from(numbers(&case["w0"]));
        let mean = noise.mean().clone();
        let mut full = FullCovariance::new(&noise, mean.view(), beta).unwrap();
        let mut run = Propagation::new(&noise, mean.view(), beta, Start::U, w0.view()).unwrap();
        let p = momentum::sequence(Start::U, 30, lambda, beta).unwrap();
        for t in 0..list(&case["t"]).len() {
            let label = format!("{name}, t = {t}");
            let same = |key: &str, found: f64| {
                close(&format!("{label}, {key}"), found, number(&case[key][t]), GOLDEN);
            };
            let sum = bound.lemma_sum(t).unwrap();
            same("cov_norm", full.norm().unwrap());
            same("lemma_sum", sum);
            same("lemma_sum", bound.lemma_sum_quadratic(t).unwrap());
            same("p_t_lam1", p[t]);
            same("cor_binomial", bound.paper_binomial(t).unwrap());
            same("cor_exp", bound.paper_exponential(t).unwrap());
            same("sharp_binomial", bound.sharp_binomial(t).unwrap());
            same("sharp_exp", bound.sharp_exponential(t).unwrap());
            same("vec_cov_norm", run.covariance_norm());
            same("total_var_w0", run.total_variance());
            same("total_var_bound_sop", total.lemma_sum(t).unwrap());
            same("total_var_bound_hybrid", noise.frobenius() / sigma * sum);
            same("total_var_bound_sqrtd", root_d / sigma * sum);
            let exponent = sigma * t as f64 / (lambda * lambda - 4.0 * beta);
            for (key, value, exponent) in [
                ("cor_linear", bound.paper_linear(t).unwrap(), 4.0 * exponent),
                ("sharp_linear", bound.sharp_linear(t).unwrap(), exponent),
            ] {
                // At ‖Σ‖t = D exactly (scalar_beta0, t = 25) the condition is a matter of rounding.
                if (exponent - 1.0).abs() <= 8.0 * f64::EPSILON {
                    continue;
                }
                assert_eq!(value.is_none(), case[key][t].is_null(), "{label}, {key}");
                if let Some(value) = value {
                    same(key, value);
                }
            }
            if t > 0 {
                let relative = sum / (p[t] * p[t]);
                close(&label, bound.relative(t).unwrap(), relative, GOLDEN);
            }
            full.advance().unwrap();
            run.advance().unwrap();
            seen += 1;
        }
    }
    assert_eq!(seen, 6 * 31);
}

/// Section b: Lemma svrgvar with $4\theta(1-\theta)$ (erratum 3.9).
#[test]
fn section_b_variance_reduced_covariances() {
    let golden = golden();
    for case in list(&golden["b_vr_covariance"]) {
        let name = case["name"].as_str().unwrap();
        let problem =
            list(&golden["a_covariance"]).iter().find(|c| c["name"] == case["name"]).unwrap();
        let (noise, beta) = distribution(problem);
        let w0 = Array1::from(numbers(&case["w0"]));
        let theta = number(&case["theta"]);
        let anchored = Anchored::new(&noise, w0.clone()).unwrap();
        let mut run =
            Propagation::new(&anchored, noise.mean().view(), beta, Start::U, w0.view()).unwrap();
        let mut plain =
            Propagation::new(&noise, noise.mean().view(), beta, Start::U, w0.view()).unwrap();
        let sigma = number(&case["norm_Sigma"]);
        let bound = Covariance::new(spectral_radius(problem), beta, sigma).unwrap();
        for t in 0..list(&case["t"]).len() {
            let label = format!("{name}, tilt {}, t = {t}", case["tilt"]);
            let wanted = number(&case["vec_cov_norm"][t]);
            // The first anchored step has no noise; the reference shows its own rounding (1e−41).
            if t <= 1 {
                assert!(run.covariance_norm() <= 4.0 * f64::EPSILON * sigma, "{label}");
            } else {
                // (I − wwᵀ) p_t(A) w cancels down to √θ: the digits lost are those of θ.
                close(&label, run.covariance_norm(), wanted, GOLDEN / theta.sqrt());
            }
            close(&label, plain.covariance_norm(), number(&case["non_vr_vec_cov_norm"][t]), GOLDEN);
            let sum = bound.lemma_sum(t).unwrap();
            close(&label, 4.0 * theta * sum, number(&case["bound_4theta"][t]), GOLDEN);
            let tight = anchor_factor(theta).unwrap() * sum;
            close(&label, tight, number(&case["bound_4theta_1mtheta"][t]), GOLDEN);
            assert!(run.covariance_norm() <= tight);
            run.advance().unwrap();
            plain.advance().unwrap();
        }
    }
}

/// Section h: growth of the exact scalar second moment and the breaking time (erratum 3.5).
#[test]
fn section_h_scalar_breakdown() {
    let golden = golden();
    for row in list(&golden["h_scalar_breakdown"]["rows"]) {
        let (beta, sigma) = (number(&row["beta"]), number(&row["Sigma"]));
        let label = format!("beta {beta}, Sigma {sigma}");
        let growth = Growth::new(1.0, 0.0, beta).unwrap();
        let e = excess(1.0, beta, sigma).unwrap();
        let mu2 = growth.mu() * growth.mu();
        close(&label, mu2, number(&row["mu1_squared"]), GOLDEN);
        close(&label, mu2 * (1.0 + e), number(&row["growth_second_moment"]), GOLDEN);
        close(&label, e.ln_1p(), number(&row["log_excess_rate"]), GOLDEN);
        close(&label, sigma / growth.discriminant(), number(&row["first_order_rate"]), GOLDEN);
        close(&label, 4.0 * sigma / growth.discriminant(), number(&row["paper_rate"]), GOLDEN);
        let bound = Covariance::new(1.0, beta, sigma).unwrap();
        // The reference looked up to 1e5 steps.
        let time = bound.breaking_time(100_000).unwrap();
        assert_eq!(time, row["t_relvar_reaches_1"].as_u64().map(|t| usize::try_from(t).unwrap()));
        if let Some(time) = time {
            let scaled = time as f64 * sigma / growth.discriminant();
            close(&label, scaled, number(&row["t_times_Sigma_over_D"]), GOLDEN);
            // The breaking variance at that time is at most this one, and above it one step earlier.
            assert!(bound.breaking_variance(time).unwrap() <= sigma);
            assert!(bound.breaking_variance(time - 1).unwrap() > sigma);
        }
    }
}

/// Section j: AR(2) noise-ball coefficients.
#[test]
fn section_j_noise_ball() {
    let golden = golden();
    for row in list(&golden["j_noise_ball"]["rows"]) {
        let (lambda1, lambda) = (number(&row["lambda1"]), number(&row["lambda_i"]));
        let growth = Growth::new(lambda1, lambda, number(&row["beta"])).unwrap();
        close("mu", growth.mu(), number(&row["mu"]), GOLDEN);
        let found = ball_coefficient(&growth, lambda).unwrap();
        close("coefficient", found, number(&row["coefficient"]), GOLDEN);
    }
}

/// Section k: mean-square rates of heavy-ball least squares on Gaussian rows.
#[test]
fn section_k_least_squares_rate() {
    let golden = golden();
    let h = Array2::from_diag(&ndarray::array![0.01, 0.1, 0.4, 1.0]);
    for row in list(&golden["k_least_squares_rate"]["rows"]) {
        let (eta, gamma) = (number(&row["eta"]), number(&row["gamma"]));
        let rows = GaussianRows::new(h.view()).unwrap();
        let noise = Scaled::new(rows, eta * eta / count(&row["s"]) as f64).unwrap();
        let mean = Array2::eye(4) * (1.0 + gamma) - &h * eta;
        let rate = mean_square_rate(&noise, mean.view(), gamma).unwrap();
        close(&format!("s {}", row["s"]), rate, number(&row["mean_square_rate"]), GOLDEN);
    }
}
