//! `favard._core`: what the Python package `favard` calls.
//!
//! Thin: the conventions of scikit-learn and SciPy are Python's matter. Here arrays become operators
//! without a copy (`data`), the models run on a pool of threads without the interpreter's lock
//! (`talk`), and results become arrays.

mod apart;
mod completion;
mod data;
mod disk;
mod eigen;
mod error;
mod info;
mod kaczmarz;
mod least_squares;
mod matrix;
mod multiply;
mod pca;
mod phase;
mod pool;
mod singular;
mod source;
mod stream;
mod svd;
mod talk;
mod task;
mod theory;
mod tracking;

use pyo3::prelude::*;

/// What the Python package `favard` is made of.
#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<stream::Stream>()?;
    module.add_class::<tracking::Tracker>()?;
    module.add_function(wrap_pyfunction!(completion::completion, module)?)?;
    module.add_function(wrap_pyfunction!(completion::completion_entries, module)?)?;
    module.add_function(wrap_pyfunction!(disk::disk, module)?)?;
    module.add_function(wrap_pyfunction!(eigen::eigen, module)?)?;
    module.add_function(wrap_pyfunction!(kaczmarz::kaczmarz, module)?)?;
    module.add_function(wrap_pyfunction!(least_squares::least_squares, module)?)?;
    module.add_function(wrap_pyfunction!(multiply::multiply, module)?)?;
    module.add_function(wrap_pyfunction!(pca::pca, module)?)?;
    module.add_function(wrap_pyfunction!(phase::phase, module)?)?;
    module.add_function(wrap_pyfunction!(pool::get_num_threads, module)?)?;
    module.add_function(wrap_pyfunction!(pool::set_num_threads, module)?)?;
    module.add_function(wrap_pyfunction!(singular::singular, module)?)?;
    module.add_function(wrap_pyfunction!(svd::svd, module)?)?;
    theory::add_to(module)?;
    Ok(())
}
