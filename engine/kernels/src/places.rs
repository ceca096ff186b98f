//! The places of documents in their sources, as the twin `engine.query.positions` sorts them.

use pyo3::prelude::*;
use pyo3::types::PyBytes;

type Raw<'py> = Bound<'py, PyBytes>;

/// A range of documents in order: its first document, the keys and the documents in order, the place of each
/// document of the range in this order, the hash of its title, and the sources and the sequences that occur.
/// Documents and places have four bytes, other numbers eight, in the order of this machine.
pub type Order<'py> = (usize, Raw<'py>, Raw<'py>, Raw<'py>, Raw<'py>, Raw<'py>, Raw<'py>);

/// The number of dead documents that are skipped (`positions.SKIPPED_MAX`).
const SKIPPED_MAX: usize = 8;

/// The place of a document that has none.
const NOWHERE: usize = u32::MAX as usize;

/// The half of a key for the rank of the sequence.
const HALF: u32 = 32;

/// Numbers of eight bytes.
#[derive(Clone, Copy)]
struct Numbers<'a>(&'a [u8]);

impl Numbers<'_> {
    fn len(self) -> usize {
        self.0.len() / 8
    }

    fn get(self, index: usize) -> Option<u64> {
        let first = index.checked_mul(8)?;
        Some(u64::from_ne_bytes(self.0.get(first..first.checked_add(8)?)?.try_into().ok()?))
    }

    /// Return the index of the first number from index `from` on that is not below `value`.
    fn seek(self, from: usize, value: u64) -> usize {
        let (mut low, mut high) = (from, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if self.get(middle).is_some_and(|one| one < value) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// Return 2n + 1 for a number among these, and 2n for any other, if n of these are lower.
    fn rank(self, value: u64) -> u64 {
        let lower = self.seek(0, value);
        2 * lower as u64 + u64::from(self.get(lower) == Some(value))
    }
}

/// Return a number of four bytes.
fn small(raw: &[u8], index: usize) -> Option<usize> {
    let first = index.checked_mul(4)?;
    Some(u32::from_ne_bytes(raw.get(first..first.checked_add(4)?)?.try_into().ok()?) as usize)
}

pub fn bit(bits: &[u8], at: usize) -> bool {
    bits.get(at / 8).is_some_and(|byte| byte >> (at % 8) & 1 == 1)
}

struct Sorted<'a> {
    start: usize,
    keys: Numbers<'a>,
    ordinals: &'a [u8],
    places: &'a [u8],
    titles: Numbers<'a>,
    sources: Numbers<'a>,
    sequences: Numbers<'a>,
}

/// The place of a document: its source and its sequence, and where it is sorted.
#[derive(Clone, Copy)]
struct Place {
    source: u64,
    sequence: u64,
    part: usize,
    index: usize,
}

/// The sorted documents. The ranges follow one another.
pub struct Places<'a>(Vec<Sorted<'a>>);

impl<'a> Places<'a> {
    pub fn new(orders: &'a [Order<'_>]) -> Self {
        let part = |(start, keys, ordinals, places, titles, sources, sequences): &'a Order<'_>| Sorted {
            start: *start,
            keys: Numbers(keys.as_bytes()),
            ordinals: ordinals.as_bytes(),
            places: places.as_bytes(),
            titles: Numbers(titles.as_bytes()),
            sources: Numbers(sources.as_bytes()),
            sequences: Numbers(sequences.as_bytes()),
        };
        Places(orders.iter().map(part).collect())
    }

    fn part(&self, ordinal: usize) -> Option<(usize, usize)> {
        let part = self.0.iter().rposition(|part| part.start <= ordinal)?;
        Some((part, ordinal - self.0[part].start))
    }

    /// Return the hash of the title of a document, 0 if it has none.
    pub fn title(&self, ordinal: usize) -> Option<u64> {
        let (part, offset) = self.part(ordinal)?;
        self.0[part].titles.get(offset)
    }

    fn place(&self, ordinal: usize) -> Option<Place> {
        let (part, offset) = self.part(ordinal)?;
        let own = &self.0[part];
        let index = small(own.places, offset).filter(|index| *index != NOWHERE)?;
        let (source, sequence) = own.known(own.keys.get(index)?)?;
        Some(Place { source, sequence, part, index })
    }

    /// Return the source of a document, or `None` if it has no place in a source.
    pub fn source(&self, ordinal: usize) -> Option<u64> {
        let (part, offset) = self.part(ordinal)?;
        let own = &self.0[part];
        let index = small(own.places, offset).filter(|index| *index != NOWHERE)?;
        own.sources.get(usize::try_from((own.keys.get(index)? >> HALF) / 2).ok()?)
    }

    /// Return the nearest document after or before another one in its source (`positions.Positions.beside`).
    pub fn beside(&self, ordinal: usize, live: &[u8], after: bool) -> Option<usize> {
        let own = self.place(ordinal)?;
        let mut nearest: Option<(u64, usize)> = None;
        for (number, part) in self.0.iter().enumerate() {
            let index = (number == own.part).then_some(own.index);
            let Some((sequence, found)) = part.nearest(own, index, live, after) else { continue };
            // Later ranges have higher ordinals.
            let nearer = match nearest {
                Some((other, _)) if after => sequence < other,
                Some((other, _)) => sequence >= other,
                None => true,
            };
            if nearer {
                nearest = Some((sequence, found));
            }
        }
        let (_, found) = nearest?;
        (self.title(found)? == self.title(ordinal)?).then_some(found)
    }

    /// Return the number of documents with a place in a source.
    pub fn size(&self, source: u64) -> usize {
        self.0.iter().map(|part| part.count(source)).sum()
    }
}

impl Sorted<'_> {
    /// Return the source and the sequence of a key of this range.
    fn known(&self, key: u64) -> Option<(u64, u64)> {
        let index = |rank: u64| usize::try_from(rank / 2).ok();
        let sequence = self.sequences.get(index(key & u64::from(u32::MAX))?)?;
        Some((self.sources.get(index(key >> HALF)?)?, sequence))
    }

    /// Return the number of documents before a place, and up to its end; `index` is that of one document there.
    fn around(&self, own: Place, index: Option<usize>) -> (usize, usize) {
        let Some((index, key)) = index.and_then(|index| Some((index, self.keys.get(index)?))) else {
            let key = self.sources.rank(own.source) << HALF | self.sequences.rank(own.sequence);
            let first = self.keys.seek(0, key);
            return (first, self.keys.seek(first, key.saturating_add(1)));
        };
        // Documents rarely have the same place.
        let equal = |index: Option<usize>| index.and_then(|index| self.keys.get(index)) == Some(key);
        let first = if equal(index.checked_sub(1)) { self.keys.seek(0, key) } else { index };
        let next = index + 1;
        let end = if equal(Some(next)) { self.keys.seek(next, key.saturating_add(1)) } else { next };
        (first, end)
    }

    /// Return the sequence and the ordinal of the nearest live document of this range in the source
    /// (`positions._SortedDocuments.nearest`).
    fn nearest(&self, own: Place, index: Option<usize>, live: &[u8], after: bool) -> Option<(u64, usize)> {
        if self.keys.len() == 0 {
            return None;
        }
        let (first, end) = self.around(own, index);
        for step in 0..SKIPPED_MAX {
            let index = if after { end.checked_add(step)? } else { first.checked_sub(step + 1)? };
            let (source, sequence) = self.known(self.keys.get(index)?)?;
            if source != own.source {
                return None;
            }
            let seen = small(self.ordinals, index)?;
            if bit(live, seen) {
                return Some((sequence, seen));
            }
        }
        None
    }

    fn count(&self, source: u64) -> usize {
        if self.keys.len() == 0 {
            return 0;
        }
        let key = self.sources.rank(source) << HALF;
        let first = self.keys.seek(0, key);
        self.keys.seek(first, key.saturating_add(1 << HALF)) - first
    }
}
