//! Reading events of the journal. The twins are `decode_header` and `open_payload` of `engine.ledger`.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyTuple};

use crate::cbor::Reader;
use crate::digests::{Digest, Role, DIGEST};
use crate::hashing::leaf_hash;
use crate::limits::{
    ATOM_ADDED, ATOM_BODY_FIELDS, ATOM_FIRST_FIELDS, ATOM_REVISED, BUCKETS_MAX, CODE_BYTES,
    CONTENT_BYTES_MAX, CREATED_MAX, CREATED_MIN, EDGE_ADDED, EDGE_DATA_BYTES_MAX, FOLDER_BYTES_MAX, FORMAT,
    FURTHER_OF_ATOM, FURTHER_OF_OTHERS, ID_BYTES, INTEGER_MAX, KEY_BYTES_MAX, LABEL_BYTES_MAX, ORDINAL_MAX,
    PIPELINE_BYTES_MAX, REASON_BYTES_MAX, REQUEST_BYTES_MAX, SEQ_MAX, SOURCE_BYTES_MAX, TAGS_MAX,
    TAG_BYTES_MAX, TITLE_BYTES_MAX, TRUST_MAX,
};
use crate::threads::map_chunks;

const SALT_BYTES: usize = 32;
const WEIGHT_BYTES: usize = 4;
/// The number of items of a header of most events on atoms; the other headers have one more. A header with an
/// origin, which has one more again, is left to the twin.
const HEADER_FIELDS: usize = 9;
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
        ATOM_ADDED | ATOM_REVISED => Some(Form::Atom),
        3 | 4 => Some(Form::AtomReason),
        5 | 6 => Some(Form::AtomTags),
        EDGE_ADDED => Some(Form::Edge),
        9 => Some(Form::EdgeReason),
        _ => None,
    }
}

/// One field of a detail or a body.
enum Field<'a> {
    Null,
    Uint(u64),
    Int(i64),
    Text(&'a str),
    Bytes(&'a [u8]),
    Texts(Vec<&'a str>),
}

/// An event whose two rows have the canonical form, and whose payload has the commitment of its header.
struct Event<'a> {
    leaf: Digest,
    time: u64,
    kind: u64,
    actor: &'a str,
    commitment: &'a [u8],
    prev: Option<u64>,
    detail: [Field<'a>; 3],
    body: Vec<Field<'a>>,
}

/// The two rows of an event, and its seq.
type Rows<'a> = (u64, &'a [u8], Option<&'a [u8]>);

/// Return the rows of events that begin with seq `start`.
fn rows_of<'a>(
    headers: &'a [Bound<'_, PyBytes>],
    payloads: &'a [Option<Bound<'_, PyBytes>>],
    start: u64,
) -> PyResult<Vec<Rows<'a>>> {
    if headers.len() != payloads.len() {
        return Err(PyTypeError::new_err("there must be a payload for each header"));
    }
    let row = |(at, (header, payload)): (usize, (&'a Bound<'_, PyBytes>, &'a Option<Bound<'_, PyBytes>>))| {
        // No event has a seq as large as one that does not fit.
        let seq = start.saturating_add(at as u64);
        (seq, header.as_bytes(), payload.as_ref().map(|raw| raw.as_bytes()))
    };
    Ok(headers.iter().zip(payloads).enumerate().map(row).collect())
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
    let rows = rows_of(&headers, &payloads, start)?;
    let (tuple, entry, header, kinds) = classes;
    let classes = Classes { make: tuple.getattr("__new__")?, entry, header, kinds };
    let role = Role::new("commitment");
    let events = py.detach(|| map_chunks(&rows, EVENTS_PER_THREAD, |rows| read(rows, &role)));
    let entries = PyList::empty(py);
    for ((seq, _, _), event) in rows.iter().zip(events) {
        match event {
            Some(event) => entries.append(classes.entry_of(py, *seq, event)?)?,
            None => entries.append(py.None())?,
        }
    }
    Ok(entries)
}

/// Return the positions of the events that `decode_entries` does not accept.
#[pyfunction]
fn doubtful_entries(
    py: Python<'_>,
    headers: Vec<Bound<'_, PyBytes>>,
    payloads: Vec<Option<Bound<'_, PyBytes>>>,
    start: u64,
) -> PyResult<Vec<usize>> {
    let rows = rows_of(&headers, &payloads, start)?;
    let role = Role::new("commitment");
    let sound = py.detach(|| map_chunks(&rows, EVENTS_PER_THREAD, |rows| read(rows, &role).is_some()));
    Ok((0..sound.len()).filter(|at| !sound[*at]).collect())
}

/// Return the fields of the body of each event, or None in place of a body that must be read by the twin.
///
/// A body is only returned if its event holds a whole atom, namely the one with the id in `subjects`. The twin
/// is `engine.ledger.queries.body_of`.
#[pyfunction]
fn open_bodies<'py>(
    py: Python<'py>,
    seqs: Vec<u64>,
    subjects: Vec<Bound<'py, PyBytes>>,
    headers: Vec<Option<Bound<'py, PyBytes>>>,
    payloads: Vec<Option<Bound<'py, PyBytes>>>,
) -> PyResult<Vec<Option<Bound<'py, PyTuple>>>> {
    let role = Role::new("commitment");
    let rows = seqs.iter().zip(&subjects).zip(headers.iter().zip(&payloads));
    rows.map(|((seq, subject), (header, payload))| {
        let payload = payload.as_ref().map(|raw| raw.as_bytes());
        let event = header.as_ref().and_then(|header| read(&(*seq, header.as_bytes(), payload), &role));
        let own = event.filter(|event| event.holds(subject.as_bytes()));
        own.map(|event| fields_of(py, &event.body)).transpose()
    })
    .collect()
}

impl Event<'_> {
    /// Return whether the body is that of the whole atom `id`.
    fn holds(&self, id: &[u8]) -> bool {
        matches!(self.kind, ATOM_ADDED | ATOM_REVISED)
            && matches!(&self.detail[0], Field::Bytes(own) if *own == id)
    }
}

/// Read and check an event, or return None if its rows are not canonical, or unusual.
fn read<'a>((seq, header, payload): &Rows<'a>, role: &Role) -> Option<Event<'a>> {
    let mut raw = Reader::new(header);
    let length = raw.array(HEADER_FIELDS + 1)?;
    if raw.uint(FORMAT)? != FORMAT || raw.uint(SEQ_MAX)? != *seq {
        return None;
    }
    let time = raw.uint(INTEGER_MAX)?;
    let kind = raw.uint(255)?;
    let form = form_of(kind)?;
    let longer = kind == ATOM_REVISED || matches!(form, Form::Edge | Form::EdgeReason);
    if length != HEADER_FIELDS + usize::from(longer) {
        return None;
    }
    let actor = raw.text(LABEL_BYTES_MAX)?;
    let commitment = raw.bytes(DIGEST)?;
    let payload = (*payload)?;
    if role.digest(&[payload]) != *commitment {
        return None;
    }
    let prev = if raw.null() { None } else { Some(raw.uint(SEQ_MAX)?) };
    let detail = match form {
        Form::Atom | Form::AtomReason | Form::AtomTags => {
            let id = sized(&mut raw, ID_BYTES)?;
            let ordinal = raw.uint(ORDINAL_MAX)?;
            let replaced =
                if kind == ATOM_REVISED { Field::Uint(raw.uint(ORDINAL_MAX)?) } else { Field::Null };
            [Field::Bytes(id), Field::Uint(ordinal), replaced]
        }
        Form::Edge | Form::EdgeReason => {
            let source = sized(&mut raw, ID_BYTES)?;
            let code = raw.bytes(CODE_BYTES)?;
            let is_code = match code {
                [one] => 0 < *one && *one < 0x80,
                [first, ..] => *first >= 0x80 && code.len() == CODE_BYTES,
                _ => false,
            };
            if !is_code {
                return None;
            }
            [Field::Bytes(source), Field::Bytes(code), Field::Bytes(sized(&mut raw, ID_BYTES)?)]
        }
    };
    if !raw.at_end() {
        return None;
    }
    let body = body_of(&form, payload.get(SALT_BYTES..)?)?;
    let leaf = leaf_hash(header);
    Some(Event { leaf, time, kind, actor, commitment, prev, detail, body })
}

fn sized<'a>(raw: &mut Reader<'a>, size: usize) -> Option<&'a [u8]> {
    raw.bytes(size).filter(|bytes| bytes.len() == size)
}

fn optional_uint<'a>(raw: &mut Reader<'a>, most: u64) -> Option<Field<'a>> {
    Some(if raw.null() { Field::Null } else { Field::Uint(raw.uint(most)?) })
}

fn optional_text<'a>(raw: &mut Reader<'a>, most: usize) -> Option<Field<'a>> {
    Some(if raw.null() { Field::Null } else { Field::Text(raw.text(most)?) })
}

fn texts<'a>(raw: &mut Reader<'a>, count: usize, most: usize) -> Option<Field<'a>> {
    let items: Option<Vec<_>> = (0..raw.array(count)?).map(|_| raw.text(most)).collect();
    Some(Field::Texts(items?))
}

/// The maximum number of bytes of each further field that is decoded: of `request` and `pipeline` in every body,
/// and of `folder` in the body of an atom. Bodies with other further fields are declined.
const FURTHER: [(u64, usize); 3] = [(0, REQUEST_BYTES_MAX), (1, PIPELINE_BYTES_MAX), (4, FOLDER_BYTES_MAX)];

/// Return the fields of a body.
fn body_of<'a>(form: &Form, body: &'a [u8]) -> Option<Vec<Field<'a>>> {
    let mut raw = Reader::new(body);
    let count = match form {
        Form::Atom => ATOM_FIRST_FIELDS,
        Form::Edge => 2,
        Form::AtomReason | Form::AtomTags | Form::EdgeReason => 1,
    };
    let length = raw.array(count + 1)?;
    if length < count {
        return None;
    }
    let raw = &mut raw;
    let mut fields = Vec::with_capacity(ATOM_BODY_FIELDS);
    match form {
        Form::Atom => {
            fields.push(Field::Text(raw.text(CONTENT_BYTES_MAX)?));
            fields.push(optional_text(raw, TITLE_BYTES_MAX)?);
            fields.push(Field::Text(raw.text(LABEL_BYTES_MAX)?));
            fields.push(texts(raw, TAGS_MAX, TAG_BYTES_MAX)?);
            fields.push(texts(raw, BUCKETS_MAX, LABEL_BYTES_MAX)?);
            fields.push(optional_text(raw, SOURCE_BYTES_MAX)?);
            fields.push(optional_uint(raw, INTEGER_MAX)?);
            fields.push(Field::Text(raw.text(LABEL_BYTES_MAX)?));
            fields.push(optional_uint(raw, TRUST_MAX)?);
            fields.push(if raw.null() {
                Field::Null
            } else {
                Field::Int(raw.int(CREATED_MIN, CREATED_MAX)?)
            });
            fields.push(optional_uint(raw, INTEGER_MAX)?);
            fields.push(optional_text(raw, KEY_BYTES_MAX)?);
        }
        Form::AtomReason | Form::EdgeReason => fields.push(Field::Text(raw.text(REASON_BYTES_MAX)?)),
        Form::AtomTags => fields.push(texts(raw, TAGS_MAX, TAG_BYTES_MAX)?),
        Form::Edge => {
            fields.push(Field::Bytes(sized(raw, WEIGHT_BYTES)?));
            fields.push(Field::Bytes(raw.bytes(EDGE_DATA_BYTES_MAX)?));
        }
    }
    let numbers: &[u64] = if matches!(form, Form::Atom) { &FURTHER_OF_ATOM } else { &FURTHER_OF_OTHERS };
    fields.resize_with(count + numbers.len(), || Field::Null);
    if length > count {
        let mut next = 0;
        for _ in 0..raw.map().filter(|size| *size > 0)? {
            let number = raw.uint(4)?;
            let (_, most) = FURTHER.iter().find(|(known, _)| *known == number)?;
            if number < next {
                return None;
            }
            next = number + 1;
            let value = raw.text(*most).filter(|value| !value.is_empty())?;
            let at = numbers.iter().position(|known| *known == number)?;
            fields[count + at] = Field::Text(value);
        }
    }
    raw.at_end().then_some(fields)
}

/// The classes of the values to make.
struct Classes<'py> {
    make: Bound<'py, PyAny>,
    entry: Bound<'py, PyAny>,
    header: Bound<'py, PyAny>,
    /// By the number of the kind: the kind, the class of its detail, and the class of its body; or None.
    kinds: Bound<'py, PyList>,
}

impl<'py> Classes<'py> {
    fn entry_of(&self, py: Python<'py>, seq: u64, event: Event<'_>) -> PyResult<Bound<'py, PyAny>> {
        let of_kind = self.kinds.get_item(event.kind as usize)?;
        let of_kind = of_kind.cast::<PyTuple>()?;
        let detail = self.make.call1((of_kind.get_item(1)?, fields_of(py, &event.detail)?))?;
        let body = self.make.call1((of_kind.get_item(2)?, fields_of(py, &event.body)?))?;
        let commitment = PyBytes::new(py, event.commitment);
        let kind = of_kind.get_item(0)?;
        let header = (seq, event.time, kind, event.actor, commitment, event.prev, detail, py.None());
        let header = self.make.call1((&self.header, header))?;
        self.make.call1((&self.entry, (header, body, PyBytes::new(py, &event.leaf))))
    }
}

fn fields_of<'py>(py: Python<'py>, fields: &[Field<'_>]) -> PyResult<Bound<'py, PyTuple>> {
    let made: PyResult<Vec<Bound<'py, PyAny>>> = fields.iter().map(|field| value_of(py, field)).collect();
    PyTuple::new(py, made?)
}

fn value_of<'py>(py: Python<'py>, field: &Field<'_>) -> PyResult<Bound<'py, PyAny>> {
    Ok(match field {
        Field::Null => py.None().into_bound(py),
        Field::Uint(number) => number.into_pyobject(py)?.into_any(),
        Field::Int(number) => number.into_pyobject(py)?.into_any(),
        Field::Text(text) => text.into_pyobject(py)?.into_any(),
        Field::Bytes(raw) => PyBytes::new(py, raw).into_any(),
        Field::Texts(items) => PyTuple::new(py, items)?.into_any(),
    })
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(decode_entries, module)?)?;
    module.add_function(wrap_pyfunction!(open_bodies, module)?)?;
    module.add_function(wrap_pyfunction!(doubtful_entries, module)?)
}
