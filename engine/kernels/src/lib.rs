//! The module `engine.kernels._native`: native twins of pure Python functions.
//!
//! Each function here has a twin in Python, which is the reference: for every input, the native function
//! returns the same value, or it returns `None` ("declined") and the caller uses the twin. Errors are raised by
//! the twins alone. No function reads a clock, a file, the environment or a global variable.

use pyo3::prelude::*;

mod answer;
mod cbor;
mod chunks;
mod digests;
mod documents;
mod encoding;
mod folding;
mod hashing;
mod leaves;
mod limits;
mod log;
mod lookup;
mod numbers;
mod packs;
mod pages;
mod places;
mod pool;
mod records;
mod replay;
mod rows;
mod score;
mod segments;
mod simhash;
mod simple;
mod surroundings;
mod text;
mod threads;
mod words;

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let subjects = [
        answer::register,
        chunks::register,
        documents::register,
        encoding::register,
        folding::register,
        hashing::register,
        leaves::register,
        log::register,
        packs::register,
        pages::register,
        pool::register,
        records::register,
        replay::register,
        score::register,
        segments::register,
        text::register,
    ];
    subjects.iter().try_for_each(|register| register(module))
}
