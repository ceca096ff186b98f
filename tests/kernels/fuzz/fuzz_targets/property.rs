//! Gives the inputs of libFuzzer to the property that MEMROOT_PROPERTY names: a test of `tests/kernels`, in
//! which a kernel and its twin must agree. The interpreter runs in this process, with the kernels in it.

#![no_main]

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use pyo3::prelude::*;

// Makes the linker keep the kernels.
extern crate memroot_kernels;

extern "C" {
    fn PyInit__native() -> *mut pyo3::ffi::PyObject;
}

static PROPERTY: OnceLock<Py<PyAny>> = OnceLock::new();

fn begin() {
    // SAFETY: the interpreter is not initialized yet, and the name lives as long as the process.
    unsafe {
        pyo3::ffi::PyImport_AppendInittab(c"_native".as_ptr(), Some(PyInit__native));
    }
    Python::initialize();
    let found = Python::attach(|python| -> PyResult<Py<PyAny>> {
        let name = std::env::var("MEMROOT_PROPERTY").expect("MEMROOT_PROPERTY names a test");
        let prepare = python.import("tests.kernels.fuzz.properties")?.getattr("prepared")?;
        Ok(prepare.call1((name,))?.unbind())
    });
    match found {
        Ok(property) => drop(PROPERTY.set(property)),
        Err(error) => stop(&error),
    }
}

fn stop(error: &PyErr) -> ! {
    Python::attach(|python| error.print(python));
    std::process::abort()
}

fuzz_target!(init: begin(), |data: &[u8]| {
    let property = PROPERTY.get().expect("begin() has run");
    if let Err(error) = Python::attach(|python| property.call1(python, (data,)).map(drop)) {
        stop(&error);
    }
});
