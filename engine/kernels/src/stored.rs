//! Decoding of stored rows: arrays in canonical CBOR whose fields satisfy given checks.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString, PyTuple};

const NUMBER: u8 = 1;
const BYTES: u8 = 2;
const TEXT: u8 = 4;
const LIST: u8 = 8;
const NULL: u8 = 16;

/// The length in bytes of one packed check: the allowed kinds (u8) and three bounds (i64).
const CHECK_BYTES: usize = 25;

/// The check of one field. The bounds are those of `proofs.forms.Check`; `each` is the largest number of bytes
/// of each text of a list.
struct Check {
    kinds: u8,
    least: i64,
    most: i64,
    each: i64,
}

/// The checks of all fields of an array, from the bytes that `engine.ledger.codec.packed` makes.
pub struct Checks(Vec<Check>);

impl Checks {
    /// Return the checks, or None if `packed` has a wrong length.
    pub fn read(packed: &[u8]) -> Option<Self> {
        if packed.len() % CHECK_BYTES != 0 {
            return None;
        }
        let number = |raw: &[u8], at: usize| Some(i64::from_be_bytes(raw.get(at..at + 8)?.try_into().ok()?));
        let each = packed.chunks_exact(CHECK_BYTES).map(|raw| {
            Some(Check {
                kinds: *raw.first()?,
                least: number(raw, 1)?,
                most: number(raw, 9)?,
                each: number(raw, 17)?,
            })
        });
        each.collect::<Option<Vec<_>>>().map(Self)
    }
}

/// A decoded field. Texts and bytes are borrowed from the row.
pub enum Field<'a> {
    Number(i64),
    Bytes(&'a [u8]),
    Text(&'a str),
    List(Vec<&'a str>),
    Null,
}

impl Field<'_> {
    fn object<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(match self {
            Self::Number(value) => value.into_pyobject(py)?.into_any(),
            Self::Bytes(raw) => PyBytes::new(py, raw).into_any(),
            Self::Text(text) => PyString::new(py, text).into_any(),
            Self::List(texts) => PyTuple::new(py, texts)?.into_any(),
            Self::Null => py.None().into_bound(py),
        })
    }
}

/// Return the fields as a list of Python objects; a list of texts becomes a tuple.
pub fn objects<'py>(py: Python<'py>, fields: &[Field<'_>]) -> PyResult<Bound<'py, PyList>> {
    PyList::new(py, fields.iter().map(|field| field.object(py)).collect::<PyResult<Vec<_>>>()?)
}

struct Cursor<'a> {
    raw: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let taken = self.raw.get(self.at..self.at.checked_add(count)?)?;
        self.at += count;
        Some(taken)
    }

    /// Return the major type and the argument of the next item, or None if it is not in the shortest form.
    fn head(&mut self) -> Option<(u8, u64)> {
        let first = *self.take(1)?.first()?;
        let (major, low) = (first >> 5, first & 0x1f);
        let width = match low {
            0..=23 => return Some((major, u64::from(low))),
            24..=27 => 1usize << (low - 24),
            _ => return None,
        };
        let value = self.take(width)?.iter().fold(0u64, |sum, byte| sum << 8 | u64::from(*byte));
        let shortest = match width {
            1 => value >= 24,
            2 => value > 0xff,
            4 => value > 0xffff,
            _ => value > 0xffff_ffff,
        };
        shortest.then_some((major, value))
    }

    fn text(&mut self, size: u64) -> Option<&'a str> {
        std::str::from_utf8(self.take(usize::try_from(size).ok()?)?).ok()
    }

    fn field(&mut self, check: &Check) -> Option<Field<'a>> {
        if self.raw.get(self.at) == Some(&0xf6) {
            self.at += 1;
            return (check.kinds & NULL != 0).then_some(Field::Null);
        }
        let (major, argument) = self.head()?;
        let count = i64::try_from(argument).ok()?;
        let kind = [NUMBER, NUMBER, BYTES, TEXT, LIST, 0, 0, 0][usize::from(major)];
        let bounded = if major == 1 { -1 - count } else { count };
        if check.kinds & kind == 0 || bounded < check.least || bounded > check.most {
            return None;
        }
        Some(match kind {
            NUMBER => Field::Number(bounded),
            BYTES => Field::Bytes(self.take(usize::try_from(argument).ok()?)?),
            TEXT => Field::Text(self.text(argument)?),
            _ => {
                // Not reserved in advance: a forged row may claim any number of items.
                let mut texts = Vec::new();
                for _ in 0..argument {
                    let (major, size) = self.head()?;
                    if major != 3 || i64::try_from(size).ok()? > check.each {
                        return None;
                    }
                    texts.push(self.text(size)?);
                }
                Field::List(texts)
            }
        })
    }
}

/// Return the fields of an array, or None if `raw` is not canonical or a field does not satisfy its check.
pub fn fields<'a>(raw: &'a [u8], checks: &Checks) -> Option<Vec<Field<'a>>> {
    let mut cursor = Cursor { raw, at: 0 };
    if cursor.head()? != (4, checks.0.len() as u64) {
        return None;
    }
    let found = checks.0.iter().map(|check| cursor.field(check)).collect::<Option<Vec<_>>>()?;
    (cursor.at == raw.len()).then_some(found)
}

/// The positions in a header of the seq, of the commitment and of the id of the atom.
const SEQ: usize = 1;
const COMMITMENT: usize = 5;
const SUBJECT: usize = 7;
const SALT_BYTES: usize = 32;

/// Return the body in a payload row, if the header is that of the event `seq` on the atom `subject` and commits
/// to the payload.
fn body<'a>(
    seq: i64,
    subject: &[u8],
    header: &[u8],
    payload: &'a [u8],
    checks: &(Checks, Checks),
    hasher: &blake3::Hasher,
) -> Option<Vec<Field<'a>>> {
    let header = fields(header, &checks.0)?;
    let (Field::Number(own), Field::Bytes(committed)) = (header.get(SEQ)?, header.get(COMMITMENT)?) else {
        return None;
    };
    if !matches!(header.get(SUBJECT)?, Field::Bytes(id) if *id == subject) {
        return None;
    }
    if *own != seq || payload.len() < SALT_BYTES {
        return None;
    }
    let digest = hasher.clone().update(payload).finalize();
    (*committed == digest.as_bytes().as_slice()).then(|| fields(&payload[SALT_BYTES..], &checks.1))?
}

/// Return the fields of the body of each event, or None in place of a body that must be read by the twin.
///
/// A body is only returned if the header has the right form, seq and atom and commits to the payload. The twin is
/// `engine.ledger.journal.open_payload` with `engine.ledger.codec.decode_header`.
#[pyfunction]
fn open_bodies<'py>(
    py: Python<'py>,
    seqs: Vec<i64>,
    subjects: Vec<Bound<'py, PyBytes>>,
    headers: &Bound<'py, PyList>,
    payloads: &Bound<'py, PyList>,
    header_checks: &[u8],
    body_checks: &[u8],
) -> PyResult<Vec<Option<Bound<'py, PyList>>>> {
    let rows: Vec<_> = headers.iter().zip(payloads.iter()).collect();
    let raw: Vec<Option<(&[u8], &[u8])>> = rows
        .iter()
        .map(|(header, payload)| {
            Some((header.cast::<PyBytes>().ok()?.as_bytes(), payload.cast::<PyBytes>().ok()?.as_bytes()))
        })
        .collect();
    let subjects: Vec<&[u8]> = subjects.iter().map(|id| id.as_bytes()).collect();
    let checks = Checks::read(header_checks).zip(Checks::read(body_checks));
    let found: Vec<_> = py.detach(|| {
        let hasher = blake3::Hasher::new_derive_key("memroot v1 commitment");
        let each = seqs.iter().zip(&subjects).zip(&raw);
        each.map(|((seq, id), rows)| {
            rows.and_then(|(one, other)| body(*seq, id, one, other, checks.as_ref()?, &hasher))
        })
        .collect()
    });
    found.iter().map(|body| body.as_ref().map(|body| objects(py, body)).transpose()).collect()
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(open_bodies, module)?)
}
