//! The module `engine.kernels._native`: native twins of pure Python functions.
//!
//! Each function here has a twin in Python, which is the reference: for every input, the native function
//! returns the same value, or it returns `None` ("declined") and the caller uses the twin. Errors are raised by
//! the twins alone. No function reads a clock, a file, the environment or a global variable.

use pyo3::prelude::*;

mod cbor;
mod chunks;
mod digests;
mod hashing;
mod leaves;
mod log;
mod pages;
mod replay;
mod threads;

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    chunks::register(module)?;
    hashing::register(module)?;
    leaves::register(module)?;
    log::register(module)?;
    pages::register(module)?;
    replay::register(module)
}
