//! The stored form of the rows of terms: many of them in one stored row. The twin is
//! `engine.index.packs`.

use pyo3::prelude::*;
use pyo3::types::PyBytes;

const PACK_BYTES: usize = 4096;
const SIZE_BYTES: usize = 2;
const DENSE: usize = 8;
/// The bytes before the offsets in the row that is hashed: df and the greatest frequency.
pub const HEAD_BYTES: usize = 5;
const VARINT_BYTES_MAX: usize = 3;

/// The terms of a pack and their entries, in order; `None` if their sizes do not add up to the size of the pack.
pub fn split(raw: &[u8]) -> Option<impl Iterator<Item = Option<(&[u8], &[u8])>>> {
    let count = usize::from(*raw.first()?) + 1;
    let (lengths, rest) = raw[1..].split_at_checked(count)?;
    let (sizes, rest) = rest.split_at_checked(SIZE_BYTES * (count - 1))?;
    let total: usize = lengths.iter().map(|&length| usize::from(length)).sum();
    let (mut terms, mut entries) = rest.split_at_checked(total)?;
    let sizes =
        sizes.chunks_exact(SIZE_BYTES).map(|pair| usize::from(u16::from_le_bytes([pair[0], pair[1]])));
    // The last entry takes the rest of the pack, and is not empty.
    if sizes.clone().sum::<usize>() >= entries.len() {
        return None;
    }
    let sizes = sizes.map(Some);
    Some(lengths.iter().zip(sizes.chain([None])).map(move |(&length, size)| {
        let (term, other_terms) = terms.split_at_checked(usize::from(length))?;
        let (entry, others) = entries.split_at_checked(size.unwrap_or(entries.len()))?;
        (terms, entries) = (other_terms, others);
        Some((term, entry))
    }))
}

/// The postings of a term as they are stored: df, the marks and values of frequencies above 1, the offsets.
struct Entry<'a> {
    df: usize,
    marks: &'a [u8],
    greater: &'a [u8],
    offsets: &'a [u8],
}

impl<'a> Entry<'a> {
    /// Divide an entry into its parts; `None` if it is malformed.
    fn parse(raw: &'a [u8], documents: usize) -> Option<Entry<'a>> {
        let (number, rest) = varint(raw)?;
        let df = number >> 1;
        if df == 0 || df > documents {
            return None;
        }
        if number & 1 == 0 {
            return Some(Entry { df, marks: &[], greater: &[], offsets: rest });
        }
        let (marks, rest) = rest.split_at_checked(df.div_ceil(8))?;
        let count = marks.iter().map(|byte| byte.count_ones() as usize).sum();
        let (greater, offsets) = rest.split_at_checked(count)?;
        (count > 0 && greater.iter().all(|&tf| tf > 1)).then_some(Entry { df, marks, greater, offsets })
    }

    /// Fill in the frequencies, of which there are `df`; return the greatest, or `None` if a mark is too high.
    fn fill_tfs(&self, tfs: &mut [u8]) -> Option<u8> {
        tfs.fill(1);
        let (mut left, mut fits) = (self.greater.iter(), true);
        for_each_member(self.marks, |at| match (tfs.get_mut(at), left.next()) {
            (Some(tf), Some(&greater)) => *tf = greater,
            _ => fits = false,
        });
        fits.then(|| self.greater.iter().copied().max().unwrap_or(1))
    }

    /// Fill in the offsets, two bytes each; `None` if they are malformed.
    fn fill_offsets(&self, documents: usize, out: &mut [u8]) -> Option<()> {
        let mut out = out.chunks_exact_mut(2);
        if self.df * DENSE >= documents {
            if self.offsets.len() != documents.div_ceil(8) {
                return None;
            }
            let mut fits = true;
            for_each_member(self.offsets, |at| match out.next() {
                Some(pair) if at < documents => pair.copy_from_slice(&(at as u16).to_le_bytes()),
                _ => fits = false,
            });
            return (fits && out.next().is_none()).then_some(());
        }
        let (mut rest, mut next) = (self.offsets, 0);
        for pair in &mut out {
            // Nearly all gaps take one byte.
            let (gap, after) = match rest {
                [gap @ 0..0x80, after @ ..] => (usize::from(*gap), after),
                _ => varint(rest)?,
            };
            next += gap;
            if next >= documents {
                return None;
            }
            pair.copy_from_slice(&(next as u16).to_le_bytes());
            next += 1;
            rest = after;
        }
        rest.is_empty().then_some(())
    }
}

/// Append the offsets and the frequencies of an entry; return the greatest frequency.
///
/// `None` if the entry is malformed; then some bytes may have been appended.
pub fn decode(raw: &[u8], documents: usize, offsets: &mut Vec<u8>, tfs: &mut Vec<u8>) -> Option<u8> {
    let entry = Entry::parse(raw, documents)?;
    let (start, tf_start) = (offsets.len(), tfs.len());
    offsets.resize(start + 2 * entry.df, 0);
    tfs.resize(tf_start + entry.df, 0);
    entry.fill_offsets(documents, &mut offsets[start..])?;
    entry.fill_tfs(&mut tfs[tf_start..])
}

/// Return the row of a term as it is hashed, or `None` if its entry is malformed.
fn row_of(raw: &[u8], documents: usize) -> Option<Vec<u8>> {
    let entry = Entry::parse(raw, documents)?;
    let mut row = vec![0; HEAD_BYTES + 3 * entry.df];
    let (head, postings) = row.split_at_mut(HEAD_BYTES);
    let (offsets, tfs) = postings.split_at_mut(2 * entry.df);
    entry.fill_offsets(documents, offsets)?;
    head[..4].copy_from_slice(&(entry.df as u32).to_be_bytes());
    head[4] = entry.fill_tfs(tfs)?;
    Some(row)
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

/// Call `found` with the position of each bit that is set, the lowest bit of each byte first.
fn for_each_member(bits: &[u8], mut found: impl FnMut(usize)) {
    for (at, chunk) in bits.chunks(8).enumerate() {
        let mut raw = [0; 8];
        raw[..chunk.len()].copy_from_slice(chunk);
        let mut left = u64::from_le_bytes(raw);
        while left != 0 {
            found(64 * at + left.trailing_zeros() as usize);
            left &= left - 1;
        }
    }
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

/// Return the row of a term as it is hashed, an empty row if the pack has no such term, or `None` to decline.
fn found_in(pack: &[u8], term: &[u8], documents: usize) -> Option<Vec<u8>> {
    for pair in split(pack)? {
        let (own, entry) = pair?;
        if own == term {
            let fits = documents <= 1 << 16;
            return fits.then(|| row_of(entry, documents)).flatten();
        }
        if own > term {
            break;
        }
    }
    Some(Vec::new())
}

/// Return the row of each term as it is hashed, b"" if the pack beside it has no such term or there is no pack,
/// or None to decline. `documents` are the sizes of the segments.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)]
fn find_postings<'py>(
    py: Python<'py>,
    packs: Vec<Option<Bound<'py, PyBytes>>>,
    terms: Vec<Bound<'py, PyBytes>>,
    documents: Vec<usize>,
) -> Vec<Option<Bound<'py, PyBytes>>> {
    let each = packs.iter().zip(&terms).zip(documents);
    let found = |((pack, term), documents): ((&Option<Bound<'py, PyBytes>>, &Bound<'py, PyBytes>), usize)| {
        let Some(pack) = pack else { return Some(PyBytes::new(py, b"")) };
        let row = found_in(pack.as_bytes(), term.as_bytes(), documents)?;
        Some(PyBytes::new(py, &row))
    };
    each.map(found).collect()
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(find_postings, module)?)
}
