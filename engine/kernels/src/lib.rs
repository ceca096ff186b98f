//! The module `engine.kernels._native`: native twins of pure Python functions.
//!
//! Each function here has a twin in Python, which is the reference: for every input, the native function
//! returns the same value, or it returns `None` ("declined") and the caller uses the twin. Errors are raised by
//! the twins alone. No function reads a clock, a file, the environment or a global variable.

use pyo3::prelude::*;

mod hashing;
mod score;
mod surroundings;
mod threads;

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    hashing::register(module)?;
    score::register(module)?;
    surroundings::register(module)
}
