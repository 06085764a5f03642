//! Products with A Aᵀ in one pass over the columns, and matrices stored by their longer side.

use favard_operator::{
    Adjoint, AdjointOperator, Block, Centered, ColumnMoments, Csr, Dense, Gram, LinearOperator,
    Outer, RowOperator, Scalar, Scaled, Shift, Sparse, Weighted, Workspace,
};
use rayon::ThreadPoolBuilder;

/// A few of 17 entries a row, by a fixed rule; rows and columns without entries among them.
fn stored<T: Scalar>(rows: usize, cols: usize, per_row: usize) -> Csr<'static, T> {
    let (mut pointers, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for i in 0..rows {
        let count = if i % 11 == 3 { 0 } else { per_row };
        let mut row: Vec<u32> = (0..count)
            .map(|e| u32::try_from((i * 7919 + e * e * 104_729 + e * 31) % cols).unwrap())
            .filter(|column| column % 13 != 5)
            .collect();
        row.sort_unstable();
        row.dedup();
        values.extend(row.iter().map(|&c| T::of(f64::from((c * 3 + 7) % 17) / 4.0 - 1.5)));
        columns.extend(row);
        pointers.push(columns.len());
    }
    Csr::new((rows, cols), pointers, columns, values).unwrap()
}

/// What hides the one pass: the same operator with the products that a trait gives it.
struct Plain<'a, T>(&'a dyn AdjointOperator<T>);

impl<T: Scalar> LinearOperator<T> for Plain<'_, T> {
    fn shape(&self) -> (usize, usize) {
        self.0.shape()
    }

    fn apply(
        &self,
        alpha: T,
        x: favard_operator::BlockRef<'_, T>,
        gamma: T,
        y: favard_operator::BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> favard_operator::Result<()> {
        self.0.apply(alpha, x, gamma, y, ws)
    }
}

impl<T: Scalar> AdjointOperator<T> for Plain<'_, T> {
    fn apply_adjoint(
        &self,
        alpha: T,
        x: favard_operator::BlockRef<'_, T>,
        gamma: T,
        y: favard_operator::BlockMut<'_, T>,
        ws: &mut Workspace<T>,
    ) -> favard_operator::Result<()> {
        self.0.apply_adjoint(alpha, x, gamma, y, ws)
    }
}

/// Two blocks differ by rounding: sums of `terms` products of numbers of the size of the largest.
fn near<T: Scalar>(found: &Block<T>, expected: &Block<T>, terms: usize, what: &str) {
    let entries = |block: &Block<T>| {
        let rows = 0..block.rows();
        rows.flat_map(|i| block.row(i).to_vec()).map(Scalar::as_f64).collect::<Vec<f64>>()
    };
    let (found, expected) = (entries(found), entries(expected));
    let size = expected.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
    let bound = 8.0 * (terms as f64 + 8.0) * T::EPSILON.as_f64() * size;
    for (at, (a, b)) in found.iter().zip(&expected).enumerate() {
        assert!((a - b).abs() <= bound, "{what}, {at}: {a} {b}, {bound:e}");
    }
}

fn one_pass_is_two<T: Scalar>(rows: usize, cols: usize, per_row: usize) {
    let csr = stored::<T>(rows, cols, per_row);
    let by_columns = || Sparse::from_columns(csr.transposed());
    let mean: Vec<T> = (0..cols).map(|j| T::of((j % 5) as f64 / 3.0 - 0.5)).collect();
    let scale: Vec<T> = (0..cols).map(|j| T::of(0.5 + (j % 3) as f64)).collect();
    let weights: Vec<T> = (0..rows).map(|i| T::of(0.25 * (1 + i % 4) as f64)).collect();
    let centred = || Centered::new(by_columns(), mean.clone()).unwrap();
    let ops: Vec<(&str, Box<dyn AdjointOperator<T>>)> = vec![
        ("by columns", Box::new(by_columns())),
        ("by rows", Box::new(csr.clone())),
        ("centred", Box::new(centred())),
        ("centred twice", Box::new(Centered::new(centred(), mean.clone()).unwrap())),
        ("scaled", Box::new(Scaled::new(centred(), scale.clone()).unwrap())),
        ("centred, scaled first", {
            let scaled = Scaled::new(by_columns(), scale.clone()).unwrap();
            Box::new(Centered::new(scaled, mean.clone()).unwrap())
        }),
        ("weighted", Box::new(Weighted::new(centred(), weights).unwrap())),
        ("adjoint", Box::new(Adjoint::new(Adjoint::new(centred())))),
        ("dense", Box::new(Dense::new(csr.to_block().unwrap().view().to_owned()).unwrap())),
    ];
    let given: Vec<T> = (0..cols).map(|j| T::of(0.5 + (j % 7) as f64)).collect();
    for (name, op) in &ops {
        for width in [1, 3, 8, 10] {
            let x = Block::gaussian(rows, width, 3);
            let start = Block::<T>::gaussian(rows, width, 4);
            let row: Vec<T> = (0..width).map(|j| T::of(0.25 * j as f64 - 0.5)).collect();
            for choice in 0..4 {
                let what = format!("{name}, {width} columns, {choice}");
                let apply = |op: &dyn AdjointOperator<T>| {
                    let (mut y, mut sums) = (start.clone(), vec![T::nan(); width]);
                    let shift = Shift { factors: &mean, row: &row, sums: &mut sums };
                    let outer = Outer {
                        weights: (choice & 1 > 0).then_some(&given[..]),
                        shift: (choice & 2 > 0).then_some(shift),
                    };
                    let (ws, gamma) = (&mut Workspace::new(), T::of(-0.5));
                    op.apply_outer(T::of(2.0), x.as_ref(), outer, gamma, y.as_mut(), ws).unwrap();
                    let sums = if choice & 2 > 0 { sums } else { vec![T::zero(); width] };
                    (y, Block::from_fn(1, width, |_, j| sums[j]))
                };
                let (found, expected) = (apply(op.as_ref()), apply(&Plain(op.as_ref())));
                near(&found.0, &expected.0, rows + cols, &what);
                near(&found.1, &expected.1, rows + cols, &format!("{what}: sums"));
            }
            // The product of the other Gram operator is the one that uses it.
            let gram = Gram::new(Adjoint::new(op.as_ref())).multiply(x.as_ref()).unwrap();
            let plain = Plain(op.as_ref());
            let plain = Gram::new(Adjoint::new(&plain)).multiply(x.as_ref()).unwrap();
            near(&gram, &plain, rows + cols, name);
        }
    }
}

#[test]
fn outer_products_are_those_of_two_passes() {
    one_pass_is_two::<f64>(40, 900, 60);
    one_pass_is_two::<f32>(40, 900, 60);
    one_pass_is_two::<f64>(300, 20, 6);
    // So many entries a row that the pass over the columns is shared out in groups.
    one_pass_is_two::<f64>(16, 6000, 1500);
}

#[test]
fn wrong_lengths_are_refused() {
    let op = Sparse::from_columns(stored::<f64>(5, 4, 3).transposed());
    let x = Block::<f64>::zeros(5, 2);
    let (five, four, two) = ([1.0; 5], [1.0; 4], [1.0; 2]);
    let refused = |outer: Outer<'_, f64>| {
        let (mut y, ws) = (Block::zeros(5, 2), &mut Workspace::new());
        op.apply_outer(1.0, x.as_ref(), outer, 0.0, y.as_mut(), ws).unwrap_err().to_string()
    };
    let weights = Outer { weights: Some(&five), shift: None };
    assert_eq!(refused(weights), "column weights: expected 4, found 5");
    let mut sums = [0.0; 2];
    let shift = Shift { factors: &five, row: &two, sums: &mut sums };
    let message = refused(Outer { weights: None, shift: Some(shift) });
    assert_eq!(message, "factors: expected 4, found 5");
    let mut sums = [0.0; 3];
    let shift = Shift { factors: &four, row: &two, sums: &mut sums };
    let message = refused(Outer { weights: None, shift: Some(shift) });
    assert_eq!(message, "sums: expected 2, found 3");
}

/// The copy that is stored by the longer side is the matrix: entry by entry, for one task and several, with
/// several panels, empty rows and columns, and on any number of threads.
#[test]
fn turned_matrices_are_the_same() {
    for (rows, cols, per_row) in
        [(1, 2, 1), (3, 50, 8), (7, 200_000, 30_000), (40, 90_000, 16_000), (0, 4, 0)]
    {
        let a = stored::<f64>(rows, cols, per_row);
        let turn = |threads| {
            let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| a.turned().unwrap())
        };
        let turned = turn(1);
        assert!(turned.is_by_columns() && turned.shape() == a.shape());
        assert!(a.turned_bytes().unwrap() >= 12 * a.entries() + 8 * cols);
        for turned in [turned, turn(4)] {
            let back = turned.into_csr();
            assert_eq!(back.pointers(), a.pointers());
            assert_eq!((back.columns(), back.values()), (a.columns(), a.values()));
        }
    }
    let a = stored::<f32>(50, 70, 9);
    assert!(Adjoint::new(&a).inner().turned().is_some());
    let tall = Sparse::from_columns(a.clone());
    let turned = tall.turned().unwrap();
    assert!(!turned.is_by_columns() && turned.shape() == (70, 50));
    assert!(
        (0..70).all(|i| (0..50).all(|j| turned.entry(i, j).to_bits() == a.entry(j, i).to_bits()))
    );
    // Stored by the longer side already; not sparse.
    assert!(a.transposed().turned().is_none() && a.transposed().turned_bytes().is_none());
    assert!(Dense::new(a.to_block().unwrap().view().to_owned()).unwrap().turned().is_none());
}
