//! The sets of ordinals. The twins are in `engine.followers.tags` and `engine.followers.chunks`.

use std::collections::HashMap;

use blake3::Hasher;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString, PyTuple};

use crate::cbor;
use crate::digests::{Digest, Role};
use crate::limits::{
    ATOM_ADDED, ATOM_BODY_FIELDS as BODY_FIELDS, ATOM_NOTED, ERASED, ORIGIN, TAGS_REMOVED, VERSION_NOTED,
};

const SALT_BYTES: usize = 16;
const DENSE_BYTES: usize = 8192;
const SPARSE_MAX: usize = 4095;
const DAY_MICROSECONDS: i64 = 86_400_000_000;
/// The days from 0001-01-01 to 1970-01-01, and from there to 9999-12-31.
const FIRST_DAY: i64 = -719_162;
const LAST_DAY: i64 = 2_932_896;

const LIVE: u8 = 1;
const TAG: u8 = 2;
const BUCKET: u8 = 3;
const KIND: u8 = 4;
const PROVENANCE: u8 = 5;
const SOURCE: u8 = 6;
const DAY: u8 = 7;
/// The group whose rows hold the tags of one ordinal each.
const TAGS_OF: u8 = 8;

/// The members that join each chunk, in the order in which the chunks first occur, and the rows of tags.
#[derive(Default)]
struct Joining {
    places: HashMap<Vec<u8>, usize>,
    chunks: Vec<(Vec<u8>, Vec<u16>)>,
    key: Vec<u8>,
    tags: Vec<([u8; 5], Vec<u8>)>,
}

impl Joining {
    fn add(&mut self, group: u8, name: &[u8], ordinal: u32) {
        let [high, low, lower, lowest] = ordinal.to_be_bytes();
        let member = u16::from_be_bytes([lower, lowest]);
        self.key.clear();
        self.key.push(group);
        self.key.extend_from_slice(name);
        self.key.extend_from_slice(&[0, high, low]);
        let place = match self.places.get(&self.key) {
            Some(place) => *place,
            None => {
                self.chunks.push((self.key.clone(), Vec::new()));
                self.places.insert(self.key.clone(), self.chunks.len() - 1);
                self.chunks.len() - 1
            }
        };
        let members = &mut self.chunks[place].1;
        if members.last() != Some(&member) {
            members.push(member); // the ordinals ascend
        }
    }

    /// Add an ordinal to the sets of its tags, and the row of its tags, if it has any.
    fn add_tags(&mut self, mut tags: Vec<Vec<u8>>, ordinal: u32) {
        for tag in &tags {
            self.add(TAG, tag, ordinal);
        }
        tags.sort_unstable();
        tags.dedup();
        if !tags.is_empty() {
            let mut row = Vec::with_capacity(16 * tags.len());
            cbor::array(&mut row, tags.len() as u64);
            tags.iter().for_each(|tag| cbor::text(&mut row, &String::from_utf8_lossy(tag)));
            let mut key = [TAGS_OF, 0, 0, 0, 0];
            key[1..].copy_from_slice(&ordinal.to_be_bytes());
            self.tags.push((key, row));
        }
    }
}

/// The members by the keys of their chunks, the rows of tags by their keys, and the positions of other entries.
type Added<'py> = (Bound<'py, PyDict>, Bound<'py, PyDict>, Vec<usize>);

/// Return (key of a chunk's row → the members that added atoms add, as in a list; key → row of the tags of an ordinal;
/// positions of other entries).
///
/// Return None to decline if an added atom has an ordinal that is not above those of all earlier entries.
#[pyfunction]
fn added_members<'py>(py: Python<'py>, entries: &Bound<'py, PyList>) -> PyResult<Option<Added<'py>>> {
    let (mut joining, mut rest, mut last) = (Joining::default(), Vec::new(), None);
    for (at, entry) in entries.iter().enumerate() {
        let (is_added, ordinal) = ordinal_of(&entry);
        if is_added {
            if last >= ordinal {
                return Ok(None);
            }
            if ordinal.and_then(|ordinal| join(&entry, ordinal, &mut joining)).is_none() {
                rest.push(at);
            }
        } else {
            rest.push(at);
        }
        last = last.max(ordinal);
    }
    let found = PyDict::new(py);
    for (key, members) in &joining.chunks {
        found.set_item(PyBytes::new(py, key), PyBytes::new(py, &packed(members)))?;
    }
    let tags = PyDict::new(py);
    for (key, row) in &joining.tags {
        tags.set_item(PyBytes::new(py, key), PyBytes::new(py, row))?;
    }
    Ok(Some((found, tags, rest)))
}

/// Return whether an entry gives a new atom its first ordinal, and the ordinal of the entry, if it has one.
fn ordinal_of(entry: &Bound<'_, PyAny>) -> (bool, Option<u32>) {
    let read = || -> Option<(bool, u32)> {
        let header = entry.cast::<PyTuple>().ok()?.get_item(0).ok()?;
        let header = header.cast::<PyTuple>().ok()?;
        let kind: u64 = header.get_item(2).ok()?.extract().ok()?;
        if !matches!(kind, ATOM_ADDED..=TAGS_REMOVED | ERASED | VERSION_NOTED | ATOM_NOTED) {
            return None;
        }
        let detail = header.get_item(6).ok()?;
        let detail = detail.cast::<PyTuple>().ok().filter(|detail| detail.len() == 3)?;
        let is_added = kind == ATOM_ADDED && detail.get_item(2).ok()?.is_none();
        Some((is_added, detail.get_item(1).ok()?.extract().ok()?))
    };
    read().map_or((false, None), |(is_added, ordinal)| (is_added, Some(ordinal)))
}

/// Add the ordinal of an added atom to its sets; return None, before any change, if the entry is unusual.
fn join(entry: &Bound<'_, PyAny>, ordinal: u32, joining: &mut Joining) -> Option<()> {
    let entry = entry.cast::<PyTuple>().ok()?;
    let body = entry.get_item(1).ok()?;
    let body = body.cast::<PyTuple>().ok()?;
    let header = entry.get_item(0).ok()?;
    let header = header.cast::<PyTuple>().ok()?;
    // The day of an event with an origin is that of the origin.
    if body.len() != BODY_FIELDS || !header.get_item(ORIGIN).ok()?.is_none() {
        return None;
    }
    let created = body.get_item(9).ok()?;
    let time = if created.is_none() { header.get_item(1).ok()? } else { created };
    let day = day_of(time.extract().ok()?)?;
    let mut tags = texts(&body.get_item(3).ok()?)?;
    let buckets = texts(&body.get_item(4).ok()?)?;
    let (kind, provenance) = (body.get_item(2).ok()?, body.get_item(7).ok()?);
    let (kind, provenance) = (text(&kind)?, text(&provenance)?);
    let source = body.get_item(5).ok()?;
    let source = if source.is_none() { None } else { Some(text(&source)?) };
    if tags.iter().any(|tag| !tag.is_ascii()) {
        return None; // the identity of such a tag depends on tables of Unicode
    }
    joining.add(LIVE, b"", ordinal);
    tags.iter_mut().for_each(|tag| tag.make_ascii_lowercase());
    joining.add_tags(tags, ordinal);
    for bucket in &buckets {
        joining.add(BUCKET, bucket, ordinal);
    }
    joining.add(KIND, &kind, ordinal);
    joining.add(PROVENANCE, &provenance, ordinal);
    if let Some(source) = source {
        joining.add(SOURCE, &source, ordinal);
    }
    joining.add(DAY, &day, ordinal);
    Some(())
}

fn text(value: &Bound<'_, PyAny>) -> Option<Vec<u8>> {
    Some(value.cast::<PyString>().ok()?.to_cow().ok()?.as_bytes().to_vec())
}

fn texts(value: &Bound<'_, PyAny>) -> Option<Vec<Vec<u8>>> {
    value.cast::<PyTuple>().ok()?.iter().map(|item| text(&item)).collect()
}

/// Return the day of a time in µs, as YYYY-MM-DD, or None before the year 1.
fn day_of(time: i64) -> Option<Vec<u8>> {
    let days = time.div_euclid(DAY_MICROSECONDS).min(LAST_DAY);
    if days < FIRST_DAY {
        return None;
    }
    // Count from 0000-03-01, so that a leap day ends its year and its era of 400 years (146,097 days).
    let days = (days + 719_468) as u64;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let (year, month) = (400 * era + year_of_era + month / 10, (month + 2) % 12 + 1);
    Some(format!("{year:04}-{month:02}-{day:02}").into_bytes())
}

fn packed(members: &[u16]) -> Vec<u8> {
    members.iter().flat_map(|member| member.to_le_bytes()).collect()
}

/// Return the chunks `stored` after the members in `joining` have joined, or None to decline.
#[pyfunction]
fn extended_chunks<'py>(
    py: Python<'py>,
    stored: Vec<Option<Bound<'py, PyBytes>>>,
    joining: Vec<Bound<'py, PyBytes>>,
) -> Option<Vec<Bound<'py, PyBytes>>> {
    if stored.len() != joining.len() {
        return None;
    }
    let empty = PyBytes::new(py, b"");
    let pairs = stored.iter().zip(&joining);
    let pairs: Vec<_> =
        pairs.map(|(raw, new)| (raw.as_ref().unwrap_or(&empty).as_bytes(), new.as_bytes())).collect();
    let after =
        py.detach(|| pairs.into_iter().map(|(raw, new)| extended(raw, new)).collect::<Option<Vec<_>>>());
    Some(after?.iter().map(|chunk| PyBytes::new(py, chunk)).collect())
}

/// Return a chunk after members have joined, or None if one of the two is not canonical.
fn extended(raw: &[u8], joining: &[u8]) -> Option<Vec<u8>> {
    let new = listed(joining)?;
    if raw.len() == DENSE_BYTES {
        let mut bits = raw.to_vec();
        if bits.iter().map(|byte| byte.count_ones() as usize).sum::<usize>() <= SPARSE_MAX {
            return None;
        }
        set(&mut bits, &new);
        return Some(bits);
    }
    let old = listed(raw)?;
    if old.len() > SPARSE_MAX {
        return None;
    }
    let merged = merged(&old, &new);
    if merged.len() <= SPARSE_MAX {
        return Some(packed(&merged));
    }
    let mut bits = vec![0; DENSE_BYTES];
    set(&mut bits, &merged);
    Some(bits)
}

fn set(bits: &mut [u8], members: &[u16]) {
    for member in members {
        bits[usize::from(*member >> 3)] |= 1 << (member & 7);
    }
}

/// Return the members of a list, or None if they do not ascend.
fn listed(raw: &[u8]) -> Option<Vec<u16>> {
    let pairs = raw.chunks_exact(2);
    if !pairs.remainder().is_empty() {
        return None;
    }
    let members: Vec<u16> = pairs.map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect();
    members.windows(2).all(|pair| pair[0] < pair[1]).then_some(members)
}

fn merged(old: &[u16], new: &[u16]) -> Vec<u16> {
    let mut both: Vec<u16> = old.iter().chain(new).copied().collect();
    if old.last() >= new.first() {
        both.sort_unstable();
        both.dedup();
    }
    both
}

/// Return the salt of a value: the twin is `proofs.labels.salted`. `name` is the length and name of the namespace.
pub fn salt(row_key: &[u8; 32], name: &[u8], key: &[u8], value: &[u8]) -> [u8; SALT_BYTES] {
    let mut hasher = Hasher::new_keyed(row_key);
    hasher.update(name).update(&(key.len() as u16).to_be_bytes()).update(key).update(value);
    let mut salt = [0; SALT_BYTES];
    salt.copy_from_slice(&hasher.finalize().as_bytes()[..SALT_BYTES]);
    salt
}

/// Return (key digest → value digest) of leaves of the tree of a namespace, whose name has 1 to 255 bytes. Each value
/// is behind its salt.
#[pyfunction]
fn salted_leaves<'py>(
    py: Python<'py>,
    namespace: &str,
    row_key: [u8; 32],
    keys: Vec<Bound<'py, PyBytes>>,
    values: Vec<Bound<'py, PyBytes>>,
) -> PyResult<Bound<'py, PyDict>> {
    let pairs: Vec<_> =
        keys.iter().zip(&values).map(|(key, value)| (key.as_bytes(), value.as_bytes())).collect();
    let mut prefix = vec![namespace.len() as u8];
    prefix.extend_from_slice(namespace.as_bytes());
    let digests: Vec<(Digest, Digest)> = py.detach(|| {
        let (of_key, of_value) = (Role::new("key"), Role::new("value"));
        let hashed = pairs.iter().map(|(key, value)| {
            let salt = salt(&row_key, &prefix, key, value);
            (of_key.digest(&[&prefix, key]), of_value.digest(&[&prefix, &salt, value]))
        });
        hashed.collect()
    });
    let found = PyDict::new(py);
    for (key, value) in &digests {
        found.set_item(PyBytes::new(py, key), PyBytes::new(py, value))?;
    }
    Ok(found)
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(added_members, module)?)?;
    module.add_function(wrap_pyfunction!(extended_chunks, module)?)?;
    module.add_function(wrap_pyfunction!(salted_leaves, module)?)
}
