//! The rows that store atoms. The twins are in `engine/ledger/records.py`.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString, PyTuple};

/// The labels that a row contains as their number in this list (`engine.ledger.records.LABELS`).
pub const LABELS: [&str; 7] = ["", "note", "inbox", "internal", "external", "quarantine", "entity"];
/// The number of fields of a row that are never left out, and of those that may be.
pub const FIELDS_MIN: usize = 12;
const FIELDS_MAX: usize = 20;

const SEQ_MAX: u64 = 1 << 53;
const CREATED_MIN: i64 = -62_135_596_800_000_000;
const LABEL_BYTES_MAX: usize = 32;
const LINE_BYTES_MAX: usize = 512;
const TAG_BYTES_MAX: usize = 256;
const TAGS_MAX: usize = 256;
const BUCKETS_MAX: usize = 16;
const TRUST_MAX: u64 = 100;

/// A row that is being decoded. Each method returns `None` if the next item is not what it reads, or is not
/// in its shortest form.
struct Row<'a> {
    rest: &'a [u8],
    fields: usize,
}

impl<'a> Row<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        Some(taken)
    }

    fn head(&mut self) -> Option<(u8, u64)> {
        let first = self.take(1)?[0];
        let (width, least) = match first & 0x1F {
            short @ 0..=23 => return Some((first >> 5, u64::from(short))),
            24 => (1, 24),
            25 => (2, 0x100),
            26 => (4, 0x1_0000),
            27 => (8, 0x1_0000_0000),
            _ => return None,
        };
        let argument = self.take(width)?.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
        (argument >= least).then_some((first >> 5, argument))
    }

    fn uint(&mut self, most: u64) -> Option<u64> {
        let (major, number) = self.head()?;
        (major == 0 && number <= most).then_some(number)
    }

    fn int(&mut self) -> Option<i64> {
        let (major, number) = self.head()?;
        let number = i64::try_from(number).ok()?;
        match major {
            0 => Some(number),
            1 => Some(!number),
            _ => None,
        }
    }

    fn rest_of_text(&mut self, length: u64, most: usize) -> Option<&'a str> {
        let length = usize::try_from(length).ok().filter(|length| *length <= most)?;
        std::str::from_utf8(self.take(length)?).ok()
    }

    fn label(&mut self) -> Option<&'a str> {
        match self.head()? {
            (0, number) => LABELS.get(usize::try_from(number).ok()?).copied(),
            (3, length) => {
                let label = self.rest_of_text(length, LABEL_BYTES_MAX)?;
                (!LABELS.contains(&label)).then_some(label)
            }
            _ => None,
        }
    }

    fn text(&mut self, most: usize) -> Option<&'a str> {
        let (major, length) = self.head()?;
        if major != 3 {
            return None;
        }
        self.rest_of_text(length, most)
    }

    fn array(&mut self, most: usize) -> Option<usize> {
        let (major, length) = self.head()?;
        usize::try_from(length).ok().filter(|length| major == 4 && *length <= most)
    }

    /// Read a field that may be left out or null.
    fn optional<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<Option<T>> {
        if self.fields == 0 {
            return Some(None);
        }
        self.fields -= 1;
        if self.rest.first() == Some(&0xF6) {
            self.rest = &self.rest[1..];
            // The last field of a row is never null.
            return (self.fields > 0).then_some(None);
        }
        read(self).map(Some)
    }
}

fn decode<'py>(
    py: Python<'py>,
    raw: &[u8],
    atom: &Bound<'py, PyBytes>,
    states: &Bound<'py, PyTuple>,
) -> Option<Bound<'py, PyTuple>> {
    if atom.as_bytes().len() != 16 {
        return None;
    }
    let mut row = Row { rest: raw, fields: 0 };
    let count = row.array(FIELDS_MAX)?;
    row.fields = count.checked_sub(FIELDS_MIN)?;
    let text = |value: &str| PyString::new(py, value);
    let ordinal = row.uint(u64::from(u32::MAX))?;
    let state = states.get_item(usize::try_from(row.uint(2)?).ok()?).ok()?;
    let version = row.uint(i64::MAX as u64)?;
    let payload_seq = row.uint(SEQ_MAX)?;
    let created_seq = payload_seq.checked_sub(row.uint(SEQ_MAX)?)?;
    let last_seq = payload_seq.checked_add(row.uint(SEQ_MAX)?).filter(|seq| *seq <= SEQ_MAX)?;
    let created = row.int().filter(|time| *time >= CREATED_MIN)?;
    let updated = created.checked_add(row.int()?).filter(|time| *time >= 0)?;
    let kind = text(row.label()?);
    let mut tags = Vec::with_capacity(8);
    for _ in 0..row.array(TAGS_MAX)? {
        tags.push(text(row.text(TAG_BYTES_MAX)?));
    }
    let mut buckets = Vec::with_capacity(2);
    for _ in 0..row.array(BUCKETS_MAX)? {
        buckets.push(text(row.label()?));
    }
    let provenance = text(row.label()?);
    let source = row.optional(|row| row.text(LINE_BYTES_MAX))?.map(text);
    let sequence = row.optional(|row| row.uint(i64::MAX as u64))?;
    let title = row.optional(|row| row.text(LINE_BYTES_MAX))?.map(text);
    let key = row.optional(|row| row.text(LINE_BYTES_MAX))?.map(text);
    let trust = row.optional(|row| row.uint(TRUST_MAX))?;
    // Rows of hidden atoms are rare; the twin decodes them.
    if row.fields > 0 || !row.rest.is_empty() {
        return None;
    }
    let first = (atom, ordinal, state, version, created_seq, payload_seq, last_seq, title, kind);
    let middle = (PyTuple::new(py, tags).ok()?, PyTuple::new(py, buckets).ok()?, source, sequence, key);
    let last = (provenance, trust, created, updated, py.None(), "", "");
    let mut items = Vec::with_capacity(21);
    for part in [first.into_pyobject(py).ok()?, middle.into_pyobject(py).ok()?, last.into_pyobject(py).ok()?]
    {
        items.extend(part.iter());
    }
    PyTuple::new(py, items).ok()
}

/// Return the values of the fields of the record of each atom, or None in place of a record that is not plain.
#[pyfunction]
fn decode_atoms<'py>(
    py: Python<'py>,
    rows: Vec<Bound<'py, PyBytes>>,
    atoms: Vec<Bound<'py, PyBytes>>,
    states: &Bound<'py, PyTuple>,
) -> Vec<Option<Bound<'py, PyTuple>>> {
    rows.iter().zip(&atoms).map(|(raw, atom)| decode(py, raw.as_bytes(), atom, states)).collect()
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(decode_atoms, module)?)
}
