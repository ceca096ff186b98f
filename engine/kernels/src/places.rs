//! The places of documents in their sources, as the twin `engine.index.positions` sorts them.

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

/// Where a document with a place is sorted: the number of its range, and its index in the order of the range.
#[derive(Clone, Copy)]
pub struct At {
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

    /// Return where a document is sorted, or `None` if it has no place in a source.
    pub fn place(&self, ordinal: usize) -> Option<At> {
        let (part, offset) = self.part(ordinal)?;
        let index = small(self.0[part].places, offset).filter(|index| *index != NOWHERE)?;
        Some(At { part, index })
    }

    /// Return the source of a document with a place.
    pub fn source(&self, at: At) -> Option<u64> {
        let own = &self.0[at.part];
        own.sources.get(usize::try_from((own.keys.get(at.index)? >> HALF) / 2).ok()?)
    }

    /// Return the nearest document after or before one with a place in its source, and where it is sorted
    /// (`positions.Positions.beside`). `title` is that of the document.
    pub fn beside(&self, at: At, title: u64, live: &[u8], after: bool) -> Option<(usize, At)> {
        let own = &self.0[at.part];
        let mut nearest = own.beside(at.index, live, after);
        let mut part = at.part;
        for (number, other) in self.0.iter().enumerate() {
            if number == at.part || other.keys.len() == 0 {
                continue;
            }
            let (source, sequence) = own.known(own.keys.get(at.index)?)?;
            let Some(found) = other.nearest(source, sequence, live, after) else { continue };
            let nearer = match nearest {
                Some(before) => {
                    let (mine, others) = (self.0[part].sequence(before)?, other.sequence(found)?);
                    // At equal sequences, the first is in the range of lower ordinals, and the last in the other.
                    others < mine && after
                        || others > mine && !after
                        || others == mine && (number < part) == after
                }
                None => true,
            };
            if nearer {
                (nearest, part) = (Some(found), number);
            }
        }
        let found = At { part, index: nearest? };
        let ordinal = small(self.0[part].ordinals, found.index)?;
        (self.title(ordinal)? == title).then_some((ordinal, found))
    }

    /// Return the number of documents in the source of one with a place, or a number above `most`.
    pub fn size(&self, at: At, most: usize) -> Option<usize> {
        let own = &self.0[at.part];
        let mut size = own.around_source(at.index, most)?;
        for (number, other) in self.0.iter().enumerate() {
            if number != at.part && other.keys.len() > 0 {
                size += other.count(self.source(at)?);
            }
        }
        Some(size)
    }
}

impl Sorted<'_> {
    /// Return the source and the sequence of a key of this range.
    fn known(&self, key: u64) -> Option<(u64, u64)> {
        let index = |rank: u64| usize::try_from(rank / 2).ok();
        let sequence = self.sequences.get(index(key & u64::from(u32::MAX))?)?;
        Some((self.sources.get(index(key >> HALF)?)?, sequence))
    }

    /// Return the sequence of the document at an index.
    fn sequence(&self, index: usize) -> Option<u64> {
        Some(self.known(self.keys.get(index)?)?.1)
    }

    /// Return the index of the nearest live document of this range to one in it, in the same source
    /// (`positions._SortedDocuments.nearest`).
    fn beside(&self, index: usize, live: &[u8], after: bool) -> Option<usize> {
        let key = self.keys.get(index)?;
        let next = if after { index.checked_add(1)? } else { index.checked_sub(1)? };
        // Documents rarely have the same place.
        let next = match self.keys.get(next) == Some(key) {
            true if after => self.keys.seek(next, key.saturating_add(1)),
            true => self.keys.seek(0, key).checked_sub(1)?,
            false => next,
        };
        self.first_live(next, key >> HALF, live, after)
    }

    /// Return the index of the nearest live document of this range to another place in a source.
    fn nearest(&self, source: u64, sequence: u64, live: &[u8], after: bool) -> Option<usize> {
        let source = self.sources.rank(source);
        let key = source << HALF | self.sequences.rank(sequence);
        let first = self.keys.seek(0, key);
        let next = if after { self.keys.seek(first, key.saturating_add(1)) } else { first.checked_sub(1)? };
        self.first_live(next, source, live, after)
    }

    /// Return the index of the first live document from an index on that is in the source with this rank.
    fn first_live(&self, from: usize, source: u64, live: &[u8], after: bool) -> Option<usize> {
        for step in 0..SKIPPED_MAX {
            let index = if after { from.checked_add(step)? } else { from.checked_sub(step)? };
            if self.keys.get(index)? >> HALF != source {
                return None;
            }
            if bit(live, small(self.ordinals, index)?) {
                return Some(index);
            }
        }
        None
    }

    /// Return the number of documents of this range in the source of one of them, or a number above `most`.
    fn around_source(&self, index: usize, most: usize) -> Option<usize> {
        let source = self.keys.get(index)? >> HALF;
        let same = |index: usize| self.keys.get(index).is_some_and(|key| key >> HALF == source);
        let before = (0..index).rev().take(most).take_while(|index| same(*index)).count();
        Some(before + (index..).take(most + 1).take_while(|index| same(*index)).count())
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
