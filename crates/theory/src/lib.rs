//! stub
mod check;
mod dense;
mod error;
mod log_sign;
pub mod chebyshev;
pub mod momentum;
pub use error::{Error, ErrorKind, Result};
pub use log_sign::LogSign;
pub use momentum::Start;
