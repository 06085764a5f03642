//! What the tests share.

use std::io::{Read, Write};

use favard_io::{Format, Loaded, ReadOptions, Result, read_bytes};
use ndarray::{Array2, array};

/// The matrix that is in the files of the other tools.
pub fn sample() -> Array2<f64> {
    array![[1.5, 0.0, 0.0, -2.0], [0.0, 0.0, 0.1, 0.0], [3.0, 4.0, 0.0, 1e-30]]
}

pub fn load(name: &str, bytes: &[u8]) -> Result<Loaded<f64>> {
    read_bytes(name, bytes, &ReadOptions::new())
}

pub fn load_as(format: Format, bytes: &[u8]) -> Result<Loaded<f64>> {
    read_bytes("data", bytes, &ReadOptions::new().format(format))
}

pub fn dense(loaded: Loaded<f64>) -> Array2<f64> {
    loaded.matrix.into_dense().unwrap().into_inner().into_owned()
}

pub fn message(name: &str, bytes: &[u8]) -> String {
    load(name, bytes).unwrap_err().to_string()
}

pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub fn gunzip(bytes: &[u8]) -> Vec<u8> {
    let mut unpacked = Vec::new();
    flate2::read::GzDecoder::new(bytes).read_to_end(&mut unpacked).unwrap();
    unpacked
}

/// A file as another tool wrote it.
macro_rules! data {
    ($name:literal) => {
        include_bytes!(concat!("data/", $name))
    };
}
pub(crate) use data;
