//! Reading events of the journal. The twins are `decode_header` and `open_payload` of `engine.ledger`.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyInt, PyList, PyString, PyTuple};

use crate::cbor::Reader;
use crate::digests::{Digest, Role, DIGEST};
use crate::hashing::leaf_hash;
use crate::threads::map_chunks;

// The limits of `proofs.limits`.
const FORMAT: u64 = 2;
const INTEGER_MAX: u64 = (1 << 63) - 1;
const SEQ_MAX: u64 = 1 << 53;
const ORDINAL_MAX: u64 = (1 << 32) - 1;
const LABEL_BYTES_MAX: usize = 32;
const CONTENT_BYTES_MAX: usize = 1 << 20;
const TITLE_BYTES_MAX: usize = 512;
const TAG_BYTES_MAX: usize = 256;
const TAGS_MAX: usize = 256;
const BUCKETS_MAX: usize = 16;
const SOURCE_BYTES_MAX: usize = 512;
const KEY_BYTES_MAX: usize = 512;
const TRUST_MAX: u64 = 100;
const CREATED_MIN: i64 = -62_135_596_800_000_000;
const CREATED_MAX: i64 = 253_402_300_799_999_999;
const REASON_BYTES_MAX: usize = 1024;
const EDGE_DATA_BYTES_MAX: usize = 4096;
const REQUEST_BYTES_MAX: usize = 128;
const ORIGIN_BYTES_MAX: usize = 256;

const ID_BYTES: usize = 16;
const SALT_BYTES: usize = 32;
const WEIGHT_BYTES: usize = 4;
const HEADER_FIELDS: usize = 10;
const EVENTS_PER_THREAD: usize = 256;

/// Where an event kind has its fields.
enum Form {
    Atom,
    AtomReason,
    AtomTags,
    Edge,
    EdgeReason,
}

fn form_of(kind: u64) -> Option<Form> {
    match kind {
        1 | 2 => Some(Form::Atom),
        3 | 4 => Some(Form::AtomReason),
        5 | 6 => Some(Form::AtomTags),
        8 => Some(Form::Edge),
        9 => Some(Form::EdgeReason),
        _ => None,
    }
}

/// The hashes of an event, and whether its payload has the commitment of its header.
struct Checked {
    leaf: Digest,
    commitment: Option<Digest>,
}

/// The classes of the values to make.
struct Classes<'py> {
    make: Bound<'py, PyAny>,
    entry: Bound<'py, PyAny>,
    header: Bound<'py, PyAny>,
    /// By the number of the kind: the kind, the class of its detail, and the class of its body; or None.
    kinds: Bound<'py, PyList>,
}

/// Return the entry of each event, beginning with seq `start`; None for each event that the twin must read.
///
/// `classes` is (tuple, Entry, Header, [(kind, class of the detail, class of the body) for each kind]).
#[pyfunction]
fn decode_entries<'py>(
    py: Python<'py>,
    headers: Vec<Bound<'py, PyBytes>>,
    payloads: Vec<Option<Bound<'py, PyBytes>>>,
    start: u64,
    classes: (Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyList>),
) -> PyResult<Bound<'py, PyList>> {
    if headers.len() != payloads.len() {
        return Err(PyTypeError::new_err("there must be a payload for each header"));
    }
    let (tuple, entry, header, kinds) = classes;
    let classes = Classes { make: tuple.getattr("__new__")?, entry, header, kinds };
    let rows: Vec<(&[u8], Option<&[u8]>)> = headers
        .iter()
        .zip(&payloads)
        .map(|(header, payload)| (header.as_bytes(), payload.as_ref().map(|raw| raw.as_bytes())))
        .collect();
    let checked = py.detach(|| {
        let role = Role::new("commitment");
        map_chunks(&rows, EVENTS_PER_THREAD, |(header, payload)| Checked {
            leaf: leaf_hash(header),
            commitment: payload.map(|raw| role.digest(&[raw])),
        })
    });
    let entries = PyList::empty(py);
    for ((seq, (header, payload)), checked) in (start..).zip(&rows).zip(&checked) {
        match payload.and_then(|payload| entry_of(py, seq, header, payload, checked, &classes)) {
            Some(entry) => entries.append(entry)?,
            None => entries.append(py.None())?,
        }
    }
    Ok(entries)
}

fn entry_of<'py>(
    py: Python<'py>,
    seq: u64,
    header: &[u8],
    payload: &[u8],
    checked: &Checked,
    classes: &Classes<'py>,
) -> Option<Bound<'py, PyAny>> {
    let mut raw = Reader::new(header);
    if raw.array(HEADER_FIELDS)? != HEADER_FIELDS || raw.uint(FORMAT)? != FORMAT || raw.uint(SEQ_MAX)? != seq {
        return None;
    }
    let time = raw.uint(INTEGER_MAX)?;
    let kind = raw.uint(255)?;
    let form = form_of(kind)?;
    let actor = raw.text(LABEL_BYTES_MAX)?;
    let commitment = raw.bytes(DIGEST)?;
    if checked.commitment.as_ref().map(|found| &found[..]) != Some(commitment) {
        return None;
    }
    let prev = if raw.null() { None } else { Some(raw.uint(SEQ_MAX)?) };
    let detail = match form {
        Form::Atom | Form::AtomReason | Form::AtomTags => {
            let id = sized(&mut raw, ID_BYTES)?;
            let ordinal = raw.uint(ORDINAL_MAX)?;
            let replaced = if raw.null() { None } else { Some(raw.uint(ORDINAL_MAX)?) };
            (PyBytes::new(py, id), ordinal, replaced).into_pyobject(py).ok()?
        }
        Form::Edge | Form::EdgeReason => {
            let source = sized(&mut raw, ID_BYTES)?;
            let code = raw.bytes(2)?;
            let is_code = match code {
                [one] => 0 < *one && *one < 0x80,
                [first, _] => *first >= 0x80,
                _ => false,
            };
            if !is_code {
                return None;
            }
            let target = sized(&mut raw, ID_BYTES)?;
            (PyBytes::new(py, source), PyBytes::new(py, code), PyBytes::new(py, target)).into_pyobject(py).ok()?
        }
    };
    if !raw.at_end() {
        return None;
    }
    let body = body_of(py, &form, payload.get(SALT_BYTES..)?)?;
    let of_kind = classes.kinds.get_item(usize::try_from(kind).ok()?).ok()?;
    let of_kind = of_kind.cast::<PyTuple>().ok()?;
    let make = |class: &Bound<'py, PyAny>, fields: Bound<'py, PyTuple>| classes.make.call1((class, fields)).ok();
    let detail = make(&of_kind.get_item(1).ok()?, detail)?;
    let body = make(&of_kind.get_item(2).ok()?, body)?;
    let fields = (seq, time, of_kind.get_item(0).ok()?, actor, PyBytes::new(py, commitment), prev, detail);
    let header = make(&classes.header, fields.into_pyobject(py).ok()?)?;
    make(&classes.entry, (header, body, PyBytes::new(py, &checked.leaf)).into_pyobject(py).ok()?)
}

fn sized<'a>(raw: &mut Reader<'a>, size: usize) -> Option<&'a [u8]> {
    raw.bytes(size).filter(|bytes| bytes.len() == size)
}

/// Return the fields of a body, among them the further fields `request` and `origin`; other ones are declined.
fn body_of<'py>(py: Python<'py>, form: &Form, body: &[u8]) -> Option<Bound<'py, PyTuple>> {
    let mut raw = Reader::new(body);
    let count = match form {
        Form::Atom => 12,
        Form::Edge => 2,
        Form::AtomReason | Form::AtomTags | Form::EdgeReason => 1,
    };
    let length = raw.array(count + 1)?;
    if length < count {
        return None;
    }
    let none = || py.None().into_bound(py);
    let mut fields: Vec<Bound<'py, PyAny>> = Vec::with_capacity(count + 5);
    match form {
        Form::Atom => {
            fields.push(text(py, &mut raw, CONTENT_BYTES_MAX)?);
            fields.push(optional_text(py, &mut raw, TITLE_BYTES_MAX)?);
            fields.push(text(py, &mut raw, LABEL_BYTES_MAX)?);
            fields.push(texts(py, &mut raw, TAGS_MAX, TAG_BYTES_MAX)?);
            fields.push(texts(py, &mut raw, BUCKETS_MAX, LABEL_BYTES_MAX)?);
            fields.push(optional_text(py, &mut raw, SOURCE_BYTES_MAX)?);
            fields.push(if raw.null() { none() } else { number(py, raw.uint(INTEGER_MAX)?) });
            fields.push(text(py, &mut raw, LABEL_BYTES_MAX)?);
            fields.push(if raw.null() { none() } else { number(py, raw.uint(TRUST_MAX)?) });
            let created = if raw.null() { None } else { Some(raw.int(CREATED_MIN, CREATED_MAX)?) };
            fields.push(created.into_pyobject(py).ok()?);
            fields.push(number(py, raw.uint(INTEGER_MAX)?));
            fields.push(optional_text(py, &mut raw, KEY_BYTES_MAX)?);
        }
        Form::AtomReason | Form::EdgeReason => fields.push(text(py, &mut raw, REASON_BYTES_MAX)?),
        Form::AtomTags => fields.push(texts(py, &mut raw, TAGS_MAX, TAG_BYTES_MAX)?),
        Form::Edge => {
            fields.push(PyBytes::new(py, sized(&mut raw, WEIGHT_BYTES)?).into_any());
            fields.push(PyBytes::new(py, raw.bytes(EDGE_DATA_BYTES_MAX)?).into_any());
        }
    }
    let mut further = [none(), none()];
    if length > count {
        let mut next = 0;
        for _ in 0..raw.map().filter(|size| *size > 0)? {
            let field = raw.uint(1)?;
            if field < next {
                return None;
            }
            next = field + 1;
            let most = if field == 0 { REQUEST_BYTES_MAX } else { ORIGIN_BYTES_MAX };
            let value = raw.text(most).filter(|value| !value.is_empty())?;
            further[field as usize] = PyString::new(py, value).into_any();
        }
    }
    fields.extend(further);
    if matches!(form, Form::Atom) {
        fields.extend([none(), none(), none()]);
    }
    if !raw.at_end() {
        return None;
    }
    PyTuple::new(py, fields).ok()
}

fn number(py: Python<'_>, value: u64) -> Bound<'_, PyAny> {
    PyInt::new(py, value).into_any()
}

fn text<'py>(py: Python<'py>, raw: &mut Reader<'_>, most: usize) -> Option<Bound<'py, PyAny>> {
    Some(PyString::new(py, raw.text(most)?).into_any())
}

fn optional_text<'py>(py: Python<'py>, raw: &mut Reader<'_>, most: usize) -> Option<Bound<'py, PyAny>> {
    if raw.null() {
        return Some(py.None().into_bound(py));
    }
    text(py, raw, most)
}

fn texts<'py>(py: Python<'py>, raw: &mut Reader<'_>, count: usize, most: usize) -> Option<Bound<'py, PyAny>> {
    let items: Option<Vec<_>> = (0..raw.array(count)?).map(|_| text(py, raw, most)).collect();
    Some(PyTuple::new(py, items?).ok()?.into_any())
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(decode_entries, module)?)
}
