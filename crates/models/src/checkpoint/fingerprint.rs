//! Fingerprints of data: short texts that differ when the data does.

use favard_engine::store::checksum;
use favard_operator::{Block, Scalar};

/// The fingerprint of a list of numbers.
pub(crate) fn hash_numbers<T: Scalar>(numbers: impl IntoIterator<Item = T>) -> String {
    let bytes: Vec<u8> =
        numbers.into_iter().flat_map(|number| number.as_f64().to_bits().to_le_bytes()).collect();
    format!("{:016x}", checksum(&bytes))
}

/// The fingerprint of a block: its shape and its numbers.
pub(crate) fn hash<T: Scalar>(block: &Block<T>) -> String {
    let (rows, cols) = block.shape();
    let numbers = (0..rows).flat_map(|i| block.row(i)).copied();
    format!("{rows} × {cols}, {}", hash_numbers(numbers))
}
