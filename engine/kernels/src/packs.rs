//! The stored form of the rows of terms: many of them in one stored row. The twin is
//! `engine.followers.packs`.

use pyo3::prelude::*;
use pyo3::types::PyBytes;

const PACK_BYTES: usize = 4096;
const SIZE_BYTES: usize = 2;
const DENSE: usize = 8;
/// The bytes before the offsets in the row that is hashed: df and the greatest frequency.
pub const HEAD_BYTES: usize = 5;
const VARINT_BYTES_MAX: usize = 3;

/// The terms of a pack and their entries, in order.
pub fn split(raw: &[u8]) -> Option<impl Iterator<Item = Option<(&[u8], &[u8])>>> {
    let count = usize::from(*raw.first()?) + 1;
    let (lengths, rest) = raw[1..].split_at_checked(count)?;
    let (sizes, rest) = rest.split_at_checked(SIZE_BYTES * (count - 1))?;
    let total: usize = lengths.iter().map(|&length| usize::from(length)).sum();
    let (mut terms, mut entries) = rest.split_at_checked(total)?;
    let sizes =
        sizes.chunks_exact(SIZE_BYTES).map(|pair| Some(usize::from(u16::from_le_bytes([pair[0], pair[1]]))));
    Some(lengths.iter().zip(sizes.chain([None])).map(move |(&length, size)| {
        let (term, other_terms) = terms.split_at_checked(usize::from(length))?;
        let (entry, others) = entries.split_at_checked(size.unwrap_or(entries.len()))?;
        (terms, entries) = (other_terms, others);
        Some((term, entry))
    }))
}

/// Append the offsets and the frequencies of an entry; return df and the greatest frequency.
///
/// `None` if the entry is malformed; then some postings may have been appended.
pub fn decode(
    entry: &[u8],
    documents: usize,
    offsets: &mut Vec<u8>,
    tfs: &mut Vec<u8>,
) -> Option<(usize, u8)> {
    let (number, mut rest) = varint(entry)?;
    let df = number >> 1;
    if df == 0 || df > documents {
        return None;
    }
    let start = tfs.len();
    tfs.resize(start + df, 1);
    let mut most = 1;
    if number & 1 == 1 {
        let (bits, after) = rest.split_at_checked(df.div_ceil(8))?;
        let mut marked = 0;
        for at in members(bits) {
            let &tf = after.get(marked)?;
            if tf < 2 {
                return None;
            }
            *tfs.get_mut(start + at)? = tf;
            most = most.max(tf);
            marked += 1;
        }
        if most == 1 {
            return None;
        }
        rest = &after[marked..];
    }
    if df * DENSE >= documents {
        if rest.len() != documents.div_ceil(8) {
            return None;
        }
        let mut count = 0;
        for at in members(rest) {
            if at >= documents {
                return None;
            }
            offsets.extend_from_slice(&(at as u16).to_le_bytes());
            count += 1;
        }
        return (count == df).then_some((df, most));
    }
    let mut next = 0;
    for _ in 0..df {
        let (gap, after) = varint(rest)?;
        let offset = next + gap;
        if offset >= documents {
            return None;
        }
        offsets.extend_from_slice(&(offset as u16).to_le_bytes());
        next = offset + 1;
        rest = after;
    }
    rest.is_empty().then_some((df, most))
}

/// Read a number in groups of seven bits, the lowest first, in the shortest form.
fn varint(raw: &[u8]) -> Option<(usize, &[u8])> {
    let (&first, rest) = raw.split_first()?;
    if first < 0x80 {
        return Some((usize::from(first), rest));
    }
    let mut number = usize::from(first & 0x7F);
    for at in 1..VARINT_BYTES_MAX {
        let &byte = raw.get(at)?;
        number |= usize::from(byte & 0x7F) << (7 * at);
        if byte < 0x80 {
            return (byte > 0).then_some((number, &raw[at + 1..]));
        }
    }
    None
}

fn put_varint(mut number: usize, out: &mut Vec<u8>) {
    while number > 0x7F {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// The positions of the bits that are set, the lowest bit of each byte first.
fn members(bits: &[u8]) -> impl Iterator<Item = usize> + use<'_> {
    bits.iter().enumerate().flat_map(|(at, &byte)| {
        let mut left = byte;
        std::iter::from_fn(move || {
            let bit = left.trailing_zeros() as usize;
            left &= left.checked_sub(1)?;
            Some(8 * at + bit)
        })
    })
}

/// Set the bits of `members` in `size` bits that are appended to `out`.
fn put_bits(members: impl Iterator<Item = usize>, size: usize, out: &mut Vec<u8>) {
    let start = out.len();
    out.resize(start + size.div_ceil(8), 0);
    for member in members {
        out[start + member / 8] |= 1 << (member % 8);
    }
}

/// Append the entry for a row of a term in the form that is hashed, which must be well-formed.
fn encode(value: &[u8], documents: usize, out: &mut Vec<u8>) {
    let (head, postings) = value.split_at(HEAD_BYTES);
    let df = postings.len() / 3;
    let (offsets, tfs) = postings.split_at(2 * df);
    let repeated = head[HEAD_BYTES - 1] > 1;
    put_varint(2 * df + usize::from(repeated), out);
    if repeated {
        let more = || tfs.iter().enumerate().filter(|(_, &tf)| tf > 1);
        put_bits(more().map(|(at, _)| at), df, out);
        out.extend(more().map(|(_, &tf)| tf));
    }
    let offsets = offsets.chunks_exact(2).map(|pair| usize::from(u16::from_le_bytes([pair[0], pair[1]])));
    if df * DENSE >= documents {
        put_bits(offsets, documents, out);
        return;
    }
    let mut next = 0;
    for offset in offsets {
        put_varint(offset - next, out);
        next = offset + 1;
    }
}

/// Return the packs of the rows of terms of one block: the position of the first row of each, and its bytes.
pub fn pack(rows: &[(&[u8], &[u8])], documents: usize) -> Vec<(usize, Vec<u8>)> {
    let mut packs = Vec::new();
    let (mut start, mut size) = (0, 0);
    let (mut entries, mut ends) = (Vec::new(), Vec::new());
    for (at, (term, value)) in rows.iter().enumerate() {
        let before = entries.len();
        encode(value, documents, &mut entries);
        ends.push(entries.len());
        size += term.len() + entries.len() - before;
        if size >= PACK_BYTES || at + 1 == rows.len() {
            let terms = &rows[start..=at];
            let mut raw = Vec::with_capacity(1 + (1 + SIZE_BYTES) * terms.len() + size);
            raw.push((terms.len() - 1) as u8);
            raw.extend(terms.iter().map(|(term, _)| term.len() as u8));
            let mut from = 0;
            for &end in &ends[..ends.len() - 1] {
                raw.extend_from_slice(&((end - from) as u16).to_le_bytes());
                from = end;
            }
            for (term, _) in terms {
                raw.extend_from_slice(term);
            }
            raw.extend_from_slice(&entries);
            packs.push((start, raw));
            (start, size) = (at + 1, 0);
            entries.clear();
            ends.clear();
        }
    }
    packs
}

/// Return the row of a term as it is hashed, b"" if the pack has no such term, or None to decline.
#[pyfunction]
fn find_postings<'py>(
    py: Python<'py>,
    raw: &[u8],
    term: &[u8],
    documents: usize,
) -> Option<Bound<'py, PyBytes>> {
    for pair in split(raw)? {
        let (own, entry) = pair?;
        if own == term {
            let (mut offsets, mut tfs) = (Vec::new(), Vec::new());
            if documents > 1 << 16 {
                return None;
            }
            let (df, most) = decode(entry, documents, &mut offsets, &mut tfs)?;
            let mut row = Vec::with_capacity(HEAD_BYTES + 3 * df);
            row.extend_from_slice(&(df as u32).to_be_bytes());
            row.push(most);
            row.extend_from_slice(&offsets);
            row.extend_from_slice(&tfs);
            return Some(PyBytes::new(py, &row));
        }
        if own > term {
            break;
        }
    }
    Some(PyBytes::new(py, b""))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(find_postings, module)?)
}
