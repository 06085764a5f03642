//! Matrices that are stored: dense of any layout, sparse by rows and by columns, in a file, and their
//! Gram operators.

use std::sync::Arc;

use favard_io::{OnDisk, write_npz_stored};
use favard_operator::{Adjoint, AdjointOperator, Csr, Dense, Gram, LinearOperator, Scalar, Sparse};

use crate::support::{Both, Checked, Data, over_data};

over_data! {
    dense(48): check_dense;
    sparse(48): check_sparse;
    on_disk(32): check_on_disk;
    gram(32): check_gram;
    pointers(8): check_pointers;
}

fn check_dense<T: Scalar>(data: &Data<T>) -> Checked {
    let strided = data.strided();
    data.of_dense().check_rows(&Dense::new(strided.view())?, &data.trial())
}

fn check_sparse<T: Scalar>(data: &Data<T>) -> Checked {
    let trial = data.trial();
    let by_rows = data.of_sparse();
    by_rows.check_rows(&data.csr(), &trial)?;
    by_rows.check_rows(&Csr::from_sprs(data.sparse.clone())?, &trial)?;
    by_rows.check_rows(&Sparse::from_sprs_view(data.sparse.view())?, &trial)?;
    by_rows.check_rows(&Sparse::from_sprs(data.sparse.to_other_storage())?, &trial)?;
    let turned = data.sparse.transpose_view();
    by_rows.adjoint().check_rows(&Sparse::from_sprs_view(turned)?, &trial)?;
    by_rows.adjoint().check_rows(&data.csr().transposed(), &trial)
}

/// In parts of one row, of a few, and all at once.
fn check_on_disk<T: Scalar>(data: &Data<T>) -> Checked {
    let (trial, folder) = (data.trial(), tempfile::tempdir()?);
    let path = folder.path().join("a.npz");
    write_npz_stored(&path, &data.csr())?;
    for entries in [1, 7, 1 << 20] {
        let stored = OnDisk::<T>::open(&path)?.with_part_entries(entries);
        data.of_sparse().check_rows(&stored, &trial)?;
        let object: Both<'_, T> = &stored;
        data.of_sparse().mean_gram().check_adjoint(&Gram::new(object), &trial)?;
    }
    Ok(())
}

fn check_gram<T: Scalar>(data: &Data<T>) -> Checked {
    let trial = data.trial();
    let strided = data.strided();
    let (dense, csr) = (Dense::new(strided.view())?, data.csr());
    let by_columns = Sparse::from_sprs(data.sparse.to_other_storage())?;
    let (dense, csr, by_columns): (Both<'_, T>, Both<'_, T>, Both<'_, T>) =
        (&dense, &csr, &by_columns);
    data.of_dense().mean_gram().check_adjoint(&Gram::new(dense), &trial)?;
    data.of_sparse().mean_gram().check_adjoint(&Gram::new(csr), &trial)?;
    data.of_sparse().gram(-0.5).check_adjoint(&Gram::new(csr).with_scale(-0.5)?, &trial)?;
    data.of_sparse().mean_gram().check_adjoint(&Gram::new(by_columns), &trial)?;
    // The other Gram operator, A Aᵀ.
    let other = Gram::new(Adjoint::new(csr));
    data.of_sparse().adjoint().mean_gram().check_adjoint(&other, &trial)?;
    let other = Gram::new(Adjoint::new(dense));
    data.of_dense().adjoint().mean_gram().check_adjoint(&other, &trial)
}

/// References, boxes and `Arc`s of operators are operators, trait objects included.
fn check_pointers<T: Scalar>(data: &Data<T>) -> Checked {
    let (trial, csr) = (data.trial(), data.csr());
    data.of_sparse().check_rows(&&csr, &trial)?;
    data.of_sparse().check_rows(&Box::new(csr.clone()), &trial)?;
    data.of_sparse().check_rows(&Arc::new(csr.clone()), &trial)?;
    let object: Box<dyn AdjointOperator<T> + '_> = Box::new(csr.clone());
    data.of_sparse().check_adjoint(&object, &trial)?;
    let object: &dyn LinearOperator<T> = &csr;
    data.of_sparse().check_linear(&object, &trial)?;
    data.of_sparse().mean_gram().check_stochastic(&Arc::new(Gram::new(csr)), &trial)
}
