//! Every law can fail: one deliberately broken operator for each, and one that breaks none.

use favard_operator::{
    AdjointOperator, Batch, Between, BlockMut, BlockRef, ErrorKind, LinearOperator, Result,
    RowOperator, StochasticOperator, Workspace,
};
use favard_testkit::{
    Trial, Violation, ViolationKind, check_adjoint, check_linear, check_matrix, check_rows,
    check_stochastic, laws,
};
use ndarray::{Array2, array};

/// What is wrong with a [`Matrix`].
#[derive(Debug, Clone, Copy, PartialEq)]
enum Fault {
    None,
    /// |Ax| in place of Ax.
    Absolute,
    /// α is forgotten where γ is not 0.
    DropsAlpha,
    /// γ y is computed even for γ = 0.
    ReadsOld,
    /// The last column of a block of several comes out doubled.
    LastColumn,
    /// Reads the slice behind x as if rows were not padded.
    IgnoresStride,
    /// Clears everything up to the stride.
    WritesPadding,
    /// Adds into scratch that it did not clear.
    DirtyScratch,
    /// The result depends on the number of threads.
    Threads,
    /// A block of another width is taken as far as it goes.
    AcceptsShapes,
    /// An index out of bounds in place of an error.
    PanicsOnShapes,
    /// Scales y before it looks at the shape of x.
    TouchesFirst,
    /// The adjoint of one entry has the other sign.
    AdjointSign,
    /// Weights are applied before the offset is taken away.
    NormalOrder,
    /// Sums are added to what was there.
    NormalSums,
    /// Weights of a wrong length are accepted.
    NormalShapes,
    /// A repeated row is done once.
    RepeatedRows,
    /// Rows come back in increasing order.
    SortedRows,
    /// `entry` is that of the transpose.
    EntryTransposed,
    /// The norm in place of its square.
    RowNorm,
    /// A row number beyond the last is skipped.
    SkipsRows,
    /// Term 0 is left out of a batch.
    FirstTerm,
    /// Weights are squared.
    SquaredWeights,
    /// A term beyond the last is skipped.
    SkipsTerms,
    /// An error for no reason.
    Fails,
}

/// A matrix with its products as plain loops. Its terms are its rows.
struct Matrix {
    entries: Array2<f64>,
    fault: Fault,
}

impl Matrix {
    fn is(&self, fault: Fault) -> bool {
        self.fault == fault
    }

    // y ← α Σ_(i, w) w e_i a_iᵀ x + γ y for the given rows and weights, with the faults of `apply`.
    fn product(
        &self,
        rows: &[(usize, f64)],
        alpha: f64,
        x: BlockRef<'_, f64>,
        gamma: f64,
        y: &mut BlockMut<'_, f64>,
        ws: &mut Workspace<f64>,
    ) {
        let columns = x.cols().min(y.cols());
        if self.is(Fault::WritesPadding) && gamma == 0.0 {
            y.data_mut().fill(0.0);
        }
        for i in 0..y.rows() {
            for j in 0..columns {
                let old = y.row(i)[j];
                let old = if gamma == 0.0 && !self.is(Fault::ReadsOld) { 0.0 } else { gamma * old };
                y.row_mut(i)[j] = old;
            }
        }
        for &(i, weight) in rows {
            for j in 0..columns {
                let at = |l: usize| match self.fault {
                    Fault::IgnoresStride => x.data()[l * x.cols() + j],
                    _ => x.row(l)[j],
                };
                let mut sum: f64 = (0..x.rows()).map(|l| self.entries[[i, l]] * at(l)).sum();
                match self.fault {
                    Fault::Absolute => sum = sum.abs(),
                    Fault::LastColumn if j > 0 && j + 1 == columns => sum *= 2.0,
                    Fault::DirtyScratch => {
                        let scratch = ws.take(1, 1);
                        sum += 0.0 * scratch.row(0)[0];
                        ws.give(scratch);
                    }
                    Fault::Threads => sum += rayon::current_num_threads() as f64 * 1e-15,
                    _ => {}
                }
                let drops = self.is(Fault::DropsAlpha) && gamma != 0.0;
                y.row_mut(i)[j] += if drops { 1.0 } else { alpha } * weight * sum;
            }
        }
    }
}

impl LinearOperator<f64> for Matrix {
    fn shape(&self) -> (usize, usize) {
        self.entries.dim()
    }
    fn apply(
        &self,
        alpha: f64,
        x: BlockRef<'_, f64>,
        gamma: f64,
        mut y: BlockMut<'_, f64>,
        ws: &mut Workspace<f64>,
    ) -> Result<()> {
        match self.fault {
            Fault::AcceptsShapes if x.cols() > y.cols() => {}
            Fault::PanicsOnShapes => {
                assert_eq!(self.shape(), (y.rows(), x.rows()), "shapes do not fit");
            }
            Fault::TouchesFirst => {
                (0..y.rows()).for_each(|i| y.row_mut(i).iter_mut().for_each(|v| *v *= gamma));
                self.check_apply(x, &y)?;
            }
            Fault::Fails => {
                return Err(ErrorKind::Empty { what: "disk", rows: 0, cols: 0 }.into());
            }
            _ => self.check_apply(x, &y)?,
        }
        let rows: Vec<_> = (0..self.entries.nrows()).map(|i| (i, 1.0)).collect();
        self.product(&rows, alpha, x, gamma, &mut y, ws);
        Ok(())
    }
}

impl AdjointOperator<f64> for Matrix {
    fn apply_adjoint(
        &self,
        alpha: f64,
        x: BlockRef<'_, f64>,
        gamma: f64,
        y: BlockMut<'_, f64>,
        ws: &mut Workspace<f64>,
    ) -> Result<()> {
        self.check_adjoint(x, &y)?;
        let mut entries = self.entries.t().to_owned();
        if self.is(Fault::AdjointSign) {
            entries[[0, 0]] *= -1.0;
        }
        Matrix { entries, fault: Fault::None }.apply(alpha, x, gamma, y, ws)
    }
    fn apply_normal(
        &self,
        alpha: f64,
        x: BlockRef<'_, f64>,
        between: Between<'_, f64>,
        gamma: f64,
        y: BlockMut<'_, f64>,
        ws: &mut Workspace<f64>,
    ) -> Result<()> {
        let rows = self.shape().0;
        if !self.is(Fault::NormalShapes) {
            between.check(rows, x.cols())?;
        }
        let mut z = self.multiply(x)?;
        let Between { weights, offset, mut sums } = between;
        for (j, sum) in sums.iter_mut().flat_map(|sums| sums.iter_mut().enumerate()) {
            if !self.is(Fault::NormalSums) || j >= x.cols() {
                *sum = 0.0;
            }
        }
        if self.is(Fault::NormalOrder) {
            Between::transform(weights, None, z.as_mut(), 0, None);
            Between::transform(None, offset, z.as_mut(), 0, sums);
        } else {
            Between::transform(weights, offset, z.as_mut(), 0, sums);
        }
        self.apply_adjoint(alpha, z.as_ref(), gamma, y, ws)
    }
}

impl RowOperator<f64> for Matrix {
    fn apply_rows(
        &self,
        rows: &[usize],
        x: BlockRef<'_, f64>,
        mut z: BlockMut<'_, f64>,
        _: &mut Workspace<f64>,
    ) -> Result<()> {
        let mut rows = rows.to_vec();
        match self.fault {
            Fault::SkipsRows => rows.iter_mut().for_each(|row| *row %= self.shape().0),
            Fault::SortedRows => rows.sort_unstable(),
            _ => {}
        }
        self.check_rows(&rows)?;
        favard_operator::check_dim("rows of x", self.shape().1, x.rows())?;
        favard_operator::check_dim("rows of z", rows.len(), z.rows())?;
        favard_operator::check_dim("columns of z", x.cols(), z.cols())?;
        let image = self.multiply(x)?;
        for (position, &row) in rows.iter().enumerate() {
            z.row_mut(position).copy_from_slice(image.row(row));
        }
        Ok(())
    }
    fn apply_rows_adjoint(
        &self,
        rows: &[usize],
        alpha: f64,
        z: BlockRef<'_, f64>,
        gamma: f64,
        y: BlockMut<'_, f64>,
        ws: &mut Workspace<f64>,
    ) -> Result<()> {
        self.check_rows(rows)?;
        favard_operator::check_dim("rows of z", rows.len(), z.rows())?;
        let mut scattered = favard_operator::Block::zeros(self.shape().0, z.cols());
        for (position, &row) in rows.iter().enumerate() {
            for (sum, value) in scattered.row_mut(row).iter_mut().zip(z.row(position)) {
                *sum = if self.is(Fault::RepeatedRows) { *value } else { *sum + value };
            }
        }
        self.apply_adjoint(alpha, scattered.as_ref(), gamma, y, ws)
    }
    fn row_norm_squared(&self, row: usize) -> f64 {
        let squared: f64 = self.entries.row(row).iter().map(|v| v * v).sum();
        if self.is(Fault::RowNorm) { squared.sqrt() } else { squared }
    }
    fn entry(&self, row: usize, col: usize) -> f64 {
        if self.is(Fault::EntryTransposed) {
            let cols = self.entries.ncols();
            let flat = col * self.entries.nrows() + row;
            return self.entries[[flat / cols, flat % cols]];
        }
        self.entries[[row, col]]
    }
}

impl StochasticOperator<f64> for Matrix {
    fn terms(&self) -> usize {
        self.entries.nrows()
    }
    fn apply_terms(
        &self,
        batch: &Batch<f64>,
        alpha: f64,
        x: BlockRef<'_, f64>,
        gamma: f64,
        mut y: BlockMut<'_, f64>,
        ws: &mut Workspace<f64>,
    ) -> Result<()> {
        if !self.is(Fault::SkipsTerms) {
            batch.check(self.terms())?;
        }
        self.check_apply(x, &y)?;
        let pairs = batch.terms.iter().copied().zip(batch.weights.iter().copied());
        let pairs = pairs.filter(|&(term, _)| match self.fault {
            Fault::FirstTerm => term != 0,
            Fault::SkipsTerms => term < self.terms(),
            _ => true,
        });
        let squared = self.is(Fault::SquaredWeights);
        let pairs =
            pairs.map(|(term, weight)| (term, if squared { weight * weight } else { weight }));
        self.product(&pairs.collect::<Vec<_>>(), alpha, x, gamma, &mut y, ws);
        Ok(())
    }
}

fn entries() -> Array2<f64> {
    array![[1.0, 2.0, 0.5], [-3.0, 4.0, 0.0], [0.0, 0.0, 0.0], [0.25, -6.0, 1.5]]
}

fn broken(fault: Fault) -> Matrix {
    Matrix { entries: entries(), fault }
}

/// The violation has to be of this law and, where it is not `apply`, of this product.
fn assert_law(verdict: Result<(), Violation>, law: &str, subject: &str) -> Violation {
    let violation = verdict.expect_err(law);
    assert_eq!((violation.law(), violation.subject()), (law, subject), "{violation}");
    violation
}

#[test]
fn a_right_operator_breaks_no_law() {
    let right = broken(Fault::None);
    check_rows(&right).unwrap();
    check_stochastic(&right).unwrap();
    check_matrix(&right, &entries()).unwrap();
    for shape in [(0, 0), (0, 3), (3, 0), (1, 1), (1, 5), (5, 1)] {
        let entries = Array2::from_shape_fn(shape, |(i, j)| (i + 2 * j) as f64 - 1.5);
        let right = Matrix { entries, fault: Fault::None };
        check_rows(&right).unwrap();
        check_stochastic(&right).unwrap();
    }
}

#[test]
fn laws_of_apply() {
    for (fault, law) in [
        (Fault::Absolute, "linearity"),
        (Fault::DropsAlpha, "fused"),
        (Fault::ReadsOld, "overwrite"),
        (Fault::LastColumn, "columns"),
        (Fault::IgnoresStride, "strided"),
        (Fault::WritesPadding, "strided"),
        (Fault::DirtyScratch, "scratch"),
        (Fault::Threads, "threads"),
        (Fault::AcceptsShapes, "shapes"),
        (Fault::PanicsOnShapes, "shapes"),
        (Fault::TouchesFirst, "shapes"),
        (Fault::Fails, "explicit"),
    ] {
        assert_law(isolated(fault, law), law, "");
    }
}

/// The law itself, as [`check_linear`] would stop at another that the fault breaks as well.
fn isolated(fault: Fault, law: &str) -> Result<(), Violation> {
    use favard_operator::Block;
    let op = broken(fault);
    let whole = check_linear(&op);
    assert!(whole.is_err(), "check_linear accepts {fault:?}");
    let rounding = favard_testkit::Rounding::majorant(entries().mapv(f64::abs));
    let x = Block::<f64>::gaussian(3, 3, 1);
    let z = Block::<f64>::gaussian(3, 3, 2);
    let y = Block::<f64>::gaussian(4, 3, 3);
    let (x, z, y) = (x.as_ref(), z.as_ref(), y.as_ref());
    match law {
        "linearity" => laws::linearity(&op, 1.0, x, -1.0, z, &rounding),
        "fused" => laws::fused(&op, 2.0, x, -0.5, y, &rounding),
        "overwrite" => laws::overwrite(&op, 1.0, x),
        "columns" => laws::columns(&op, x, &rounding),
        "strided" => laws::strided(&op, 1.0, x, 0.0, y, &rounding),
        "scratch" => laws::scratch(&op, x),
        "threads" => laws::threads(&op, 1.0, x, 0.0, y),
        "shapes" => laws::shapes(&op),
        _ => whole,
    }
}

#[test]
fn kinds_say_what_happened() {
    let kind = |fault, law: &str| isolated(fault, law).unwrap_err().kind().clone();
    assert!(matches!(kind(Fault::WritesPadding, "strided"), ViolationKind::Outside { .. }));
    assert!(matches!(kind(Fault::IgnoresStride, "strided"), ViolationKind::Differs { .. }));
    assert!(matches!(kind(Fault::AcceptsShapes, "shapes"), ViolationKind::Accepted));
    assert!(matches!(kind(Fault::PanicsOnShapes, "shapes"), ViolationKind::Panicked { .. }));
    assert!(matches!(kind(Fault::TouchesFirst, "shapes"), ViolationKind::Touched { .. }));
    assert!(matches!(kind(Fault::Threads, "threads"), ViolationKind::Bits { .. }));
    assert!(matches!(kind(Fault::Fails, ""), ViolationKind::Failed { .. }));
}

#[test]
fn one_entry_is_enough_to_differ_from_the_matrix() {
    let mut other = entries();
    other[[2, 1]] += 1e-10;
    let violation = assert_law(check_matrix(&broken(Fault::None), &other), "matrix", "");
    assert!(violation.to_string().starts_with("matrix (4 × 3, block of 1): entry (2, 0) is"));
    let fewer = Array2::zeros((4, 2));
    assert_law(check_matrix(&broken(Fault::None), &fewer), "matrix", "");
}

#[test]
fn laws_of_the_adjoint() {
    for (fault, law) in [
        (Fault::AdjointSign, "adjoint_identity"),
        (Fault::NormalOrder, "normal"),
        (Fault::NormalSums, "normal"),
        (Fault::NormalShapes, "normal_shapes"),
    ] {
        assert_law(check_adjoint(&broken(fault)), law, "");
    }
}

#[test]
fn laws_of_the_rows() {
    for (fault, law) in [
        (Fault::RepeatedRows, "rows_adjoint"),
        (Fault::SortedRows, "rows"),
        (Fault::EntryTransposed, "entries"),
        (Fault::RowNorm, "row_norms"),
        (Fault::SkipsRows, "row_numbers"),
    ] {
        // Six draws from four rows repeat one, as the law of repeated rows needs.
        assert_law(check_rows(&broken(fault)), law, "");
    }
}

#[test]
fn laws_of_the_terms() {
    for (fault, law) in [
        (Fault::FirstTerm, "all_terms"),
        (Fault::SquaredWeights, "terms"),
        (Fault::SkipsTerms, "terms_refused"),
    ] {
        assert_law(check_stochastic(&broken(fault)), law, "");
    }
}

#[test]
fn a_violation_names_the_product() {
    /// Reads y in `apply_adjoint` only.
    struct ReadsInAdjoint(Matrix);
    impl LinearOperator<f64> for ReadsInAdjoint {
        fn shape(&self) -> (usize, usize) {
            self.0.shape()
        }
        fn apply(
            &self,
            alpha: f64,
            x: BlockRef<'_, f64>,
            gamma: f64,
            y: BlockMut<'_, f64>,
            ws: &mut Workspace<f64>,
        ) -> Result<()> {
            self.0.apply(alpha, x, gamma, y, ws)
        }
    }
    impl AdjointOperator<f64> for ReadsInAdjoint {
        fn apply_adjoint(
            &self,
            alpha: f64,
            x: BlockRef<'_, f64>,
            gamma: f64,
            y: BlockMut<'_, f64>,
            ws: &mut Workspace<f64>,
        ) -> Result<()> {
            self.check_adjoint(x, &y)?;
            let entries = self.0.entries.t().to_owned();
            Matrix { entries, fault: Fault::ReadsOld }.apply(alpha, x, gamma, y, ws)
        }
    }
    let op = ReadsInAdjoint(broken(Fault::None));
    let violation = assert_law(Trial::new(3).adjoint(&op), "overwrite", "apply_adjoint");
    assert!(violation.to_string().starts_with("overwrite of apply_adjoint (3 × 4, block of 1"));
}

#[test]
fn a_biased_sampler_is_caught() {
    let batch = |term, weight: f64| Batch { terms: vec![term], weights: vec![weight] };
    // Uniform probabilities, weights of another distribution.
    let outcomes = [(0.5, batch(0, 2.0)), (0.5, batch(1, 2.5))];
    let violation = assert_law(laws::unbiased_exactly(2, outcomes), "unbiased_exactly", "");
    assert!(matches!(violation.kind(), ViolationKind::Differs { column: 1, .. }));
    // Probabilities that are none.
    let outcomes = [(0.5, batch(0, 2.0)), (0.25, batch(1, 4.0))];
    assert_law(laws::unbiased_exactly(2, outcomes), "unbiased_exactly", "");
    // A term that never comes.
    let draw = |tick: u64| Ok(batch(usize::from(tick.is_multiple_of(3)), 3.0));
    assert_law(laws::unbiased(3, 4000, 3.0, draw), "unbiased", "");
    // A weight of 3 for each of three terms, one of them drawn half of the time.
    let draw = |tick: u64| Ok(batch([0, 1, 0, 2][(tick % 4) as usize], 3.0));
    assert_law(laws::unbiased(3, 4000, 3.0, draw), "unbiased", "");
    // A weight beyond the bound that was promised.
    assert_law(laws::unbiased(1, 4000, 1.0, |_| Ok(batch(0, 3.0))), "unbiased", "");
}

// p₀ = 1, p₁ = λ/2, p_{t+1} = λ p_t − β p_{t−1}, by a plain loop on an operator of one entry.
#[test]
fn a_trace_is_its_polynomial() {
    let op = Matrix { entries: array![[0.9]], fault: Fault::None };
    let beta = 0.2;
    let mut triples = vec![[0.5, 0.0, 0.0]];
    triples.extend([[1.0, 0.0, beta]; 40]);
    let run = |beta: f64| {
        let mut trace = vec![1.0, 0.5 * 0.9];
        for t in 1..=40 {
            trace.push(0.9 * trace[t] - beta * trace[t - 1]);
        }
        trace
    };
    laws::scalar_polynomial(&op, &triples, &run(beta)).unwrap();
    let wrong = laws::scalar_polynomial(&op, &triples, &run(beta * (1.0 + 1e-12)));
    let violation = assert_law(wrong, "scalar_polynomial", "");
    assert!(matches!(violation.kind(), ViolationKind::Differs { row: 2.., .. }), "{violation}");
    assert_law(laws::scalar_polynomial(&op, &triples, &[1.0]), "scalar_polynomial", "");
}
