//! BM25 scores from the rows of terms: the best documents, and the scores of given documents.
//!
//! The twins are in `engine/query/recall/signals/scoring.py`, which describes the arguments. Every score is
//! computed with the same operations on doubles in the same order as there.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::places::bit;

/// The bytes before the offsets in the row of a term: four of the number of documents, one of the largest tf.
const HEAD_BYTES: usize = 5;

const MICRO: f64 = 1_000_000.0;

/// The factor by which a bound is raised, because its sum may be rounded differently from that of a score.
const ROUNDED_UP: f64 = 1.0 + 1e-9;

/// How many documents of a list are visited before it is checked again which frequencies can be skipped.
const STRIDE: usize = 512;

/// The postings of a term in one part of the index.
#[derive(Clone, Copy)]
struct Row<'a> {
    offsets: &'a [u8],
    tfs: &'a [u8],
    largest: u8,
}

impl<'a> Row<'a> {
    fn parse(raw: &'a [u8]) -> Option<Self> {
        let df = u32::from_be_bytes(raw.get(..4)?.try_into().ok()?) as usize;
        let split = df.checked_mul(2)?.checked_add(HEAD_BYTES)?;
        if df == 0 || raw.len() != split.checked_add(df)? {
            return None;
        }
        Some(Row { offsets: &raw[HEAD_BYTES..split], tfs: &raw[split..], largest: raw[4] })
    }

    fn len(&self) -> usize {
        self.tfs.len()
    }

    fn offset(&self, at: usize) -> usize {
        // The second byte first: then only one bound is checked.
        let high = self.offsets[2 * at + 1];
        usize::from(u16::from_le_bytes([self.offsets[2 * at], high]))
    }

    /// Return the index of the first offset from index `from` on that is not below `offset`.
    fn seek(&self, from: usize, offset: usize) -> usize {
        let (mut low, mut step) = (from, 1);
        while low + step < self.len() && self.offset(low + step) < offset {
            low += step;
            step *= 4;
        }
        // Halved without a branch on what is read, because no guess about it would be right often.
        let mut size = step.min(self.len().saturating_sub(low));
        while size > 0 {
            let half = size / 2;
            let below = self.offset(low + half) < offset;
            low = if below { low + half + 1 } else { low };
            size = if below { size - half - 1 } else { half };
        }
        low
    }

    /// Return the frequency of the term in the document at `offset`, or 0. `cursor` moves forward only.
    fn tf(&self, cursor: &mut usize, offset: usize) -> u8 {
        *cursor = self.seek(*cursor, offset);
        if *cursor < self.len() && self.offset(*cursor) == offset {
            self.tfs[*cursor]
        } else {
            0
        }
    }
}

/// Where a search stands in the rows of a list in one part.
#[derive(Clone, Copy, Default)]
struct Cursor {
    text: usize,
    head: usize,
}

/// The documents that a list names, with what they gain from it.
enum Postings<'a> {
    Term {
        rows: Vec<Option<Row<'a>>>,
        heads: Vec<Option<Row<'a>>>,
        head: f64,
    },
    /// All documents gain the same. Ordinals of four bytes each, for each part.
    Tag {
        parts: Vec<&'a [u8]>,
    },
}

struct List<'a> {
    weight: f64,
    postings: Postings<'a>,
}

struct Part<'a> {
    start: usize,
    lengths: &'a [u8],
}

impl Part<'_> {
    fn norm(&self, norms: &[u8], offset: usize) -> Option<f64> {
        let length = u16::from_le_bytes(self.lengths.get(2 * offset..2 * offset + 2)?.try_into().ok()?);
        let at = 8 * usize::from(length);
        Some(f64::from_le_bytes(norms.get(at..at + 8)?.try_into().ok()?))
    }
}

fn ordinal_in(raw: &[u8], at: usize) -> usize {
    let at = 4 * at;
    u32::from_le_bytes([raw[at], raw[at + 1], raw[at + 2], raw[at + 3]]) as usize
}

/// Return the index of the first of the ordinals from index `from` on that is not below `ordinal`.
fn seek_ordinal(raw: &[u8], from: usize, ordinal: usize) -> usize {
    let (mut low, mut high) = (from, raw.len() / 4);
    while low < high {
        let middle = low + (high - low) / 2;
        if ordinal_in(raw, middle) < ordinal {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

impl List<'_> {
    /// Return what the document at `offset` of a part gains from this list, 0 if it is not named.
    fn gain(&self, part: usize, start: usize, offset: usize, norm: f64, cursor: &mut Cursor) -> f64 {
        match &self.postings {
            Postings::Term { rows, heads, head } => {
                let Some(row) = &rows[part] else { return 0.0 };
                let tf = row.tf(&mut cursor.text, offset);
                if tf == 0 {
                    return 0.0;
                }
                self.weighted(tf, heads.get(part).and_then(Option::as_ref), *head, offset, norm, cursor)
            }
            Postings::Tag { parts } => {
                cursor.text = seek_ordinal(parts[part], cursor.text, start + offset);
                let named = cursor.text < parts[part].len() / 4;
                if named && ordinal_in(parts[part], cursor.text) == start + offset {
                    self.weight
                } else {
                    0.0
                }
            }
        }
    }

    fn weighted(
        &self,
        tf: u8,
        heads: Option<&Row>,
        head: f64,
        offset: usize,
        norm: f64,
        cursor: &mut Cursor,
    ) -> f64 {
        let mut value = f64::from(tf);
        if let Some(row) = heads {
            let in_head = row.tf(&mut cursor.head, offset);
            if in_head > 0 {
                value += head * f64::from(in_head);
            }
        }
        self.weight * (value / (norm + value))
    }

    /// Return the most that a document of a part gains if its text has the term `tf` times (a tag has no tf).
    fn bound(&self, part: usize, tf: u8, least_norm: f64) -> f64 {
        match &self.postings {
            Postings::Term { heads, head, .. } => {
                let in_head = heads.get(part).and_then(Option::as_ref).map_or(0, |row| row.largest);
                let value = f64::from(tf) + head * f64::from(in_head);
                self.weight * (value / (least_norm + value)) * ROUNDED_UP
            }
            Postings::Tag { .. } => self.weight * ROUNDED_UP,
        }
    }

    /// Return the most that a document of a part gains.
    fn largest(&self, part: usize, least_norm: f64) -> f64 {
        match &self.postings {
            Postings::Term { rows, .. } => {
                rows[part].map_or(0.0, |row| self.bound(part, row.largest, least_norm))
            }
            Postings::Tag { parts } if parts[part].is_empty() => 0.0,
            Postings::Tag { .. } => self.bound(part, 0, least_norm),
        }
    }

    fn len(&self, part: usize) -> usize {
        match &self.postings {
            Postings::Term { rows, .. } => rows[part].map_or(0, |row| row.len()),
            Postings::Tag { parts } => parts[part].len() / 4,
        }
    }
}

/// The arguments that both kernels share.
pub struct Scores<'a> {
    parts: Vec<Part<'a>>,
    norms: &'a [u8],
    lists: Vec<List<'a>>,
}

pub type Rows<'py> = Vec<Option<Bound<'py, PyBytes>>>;
pub type Term<'py> = (f64, Rows<'py>, Rows<'py>);
pub type Tag<'py> = (f64, Bound<'py, PyBytes>);
/// The weighted terms, the weight of heads, the weighted tags; and the first ordinal of each part, the lengths of
/// its documents and the norm of each length.
pub type Lists<'py> =
    (Vec<Term<'py>>, f64, Vec<Tag<'py>>, Vec<usize>, Vec<Bound<'py, PyBytes>>, Bound<'py, PyBytes>);

/// The norm of the shortest document of each part, the allowed documents, and the factors of documents.
pub type RawAllowed<'py> = (Vec<f64>, Bound<'py, PyBytes>, Vec<Tag<'py>>);

fn rows_of<'a>(rows: &'a Rows<'_>) -> Option<Vec<Option<Row<'a>>>> {
    rows.iter()
        .map(|row| row.as_ref().map_or(Some(None), |raw| Row::parse(raw.as_bytes()).map(Some)))
        .collect()
}

impl<'a> Scores<'a> {
    pub fn parse((terms, head, tags, starts, lengths, norms): &'a Lists<'_>) -> Option<Self> {
        let (head, norms) = (*head, norms.as_bytes());
        if starts.len() != lengths.len() || starts.windows(2).any(|pair| pair[0] > pair[1]) {
            return None;
        }
        let parts: Vec<Part> = starts
            .iter()
            .zip(lengths)
            .map(|(&start, lengths)| Part { start, lengths: lengths.as_bytes() })
            .collect();
        let positive = |weight: f64| weight.is_finite() && weight >= 0.0;
        if !positive(head) || starts.iter().any(|&start| start > u32::MAX as usize) {
            return None;
        }
        let mut lists = Vec::with_capacity(terms.len() + tags.len());
        for (weight, rows, heads) in terms {
            let (rows, heads) = (rows_of(rows)?, rows_of(heads)?);
            if !positive(*weight) || rows.len() != parts.len() || heads.len() > parts.len() {
                return None;
            }
            lists.push(List { weight: *weight, postings: Postings::Term { rows, heads, head } });
        }
        for (weight, raw) in tags {
            let raw = raw.as_bytes();
            if !positive(*weight) || raw.len() % 4 != 0 {
                return None;
            }
            let ends = starts.iter().skip(1).copied().chain([usize::MAX]);
            let parts = starts
                .iter()
                .zip(ends)
                .map(|(&start, end)| &raw[4 * seek_ordinal(raw, 0, start)..4 * seek_ordinal(raw, 0, end)])
                .collect();
            lists.push(List { weight: *weight, postings: Postings::Tag { parts } });
        }
        Some(Scores { parts, norms, lists })
    }
}

/// Which documents may be found, and by what their scores are multiplied.
pub struct Allowed<'a> {
    pub bits: &'a [u8],
    factors: Vec<(f64, &'a [u8])>,
    largest: f64,
}

impl Allowed<'_> {
    fn micros(&self, ordinal: usize, score: f64) -> f64 {
        let factor = self.factors.iter().rev().find(|(_, bits)| bit(bits, ordinal)).map_or(1.0, |one| one.0);
        (score * factor * MICRO).round_ties_even()
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Found {
    micros: i64,
    pub ordinal: u32,
}

impl Ord for Found {
    /// The better one is less: the one with the higher score, or at equal scores with the lower ordinal.
    fn cmp(&self, other: &Self) -> Ordering {
        other.micros.cmp(&self.micros).then(self.ordinal.cmp(&other.ordinal))
    }
}

impl PartialOrd for Found {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The best documents so far: at least `limit` of them, and those that tie with the last.
struct Best {
    limit: usize,
    most: usize,
    top: BinaryHeap<Reverse<i64>>,
    found: Vec<Found>,
    /// A score below this many millionths is not among the best.
    least: i64,
}

impl Best {
    fn add(&mut self, micros: f64, ordinal: usize) {
        // A score that does not fit is cut off by `as`; the twin rounds scores of this size as well.
        let micros = micros as i64;
        if micros < self.least {
            return;
        }
        self.found.push(Found { micros, ordinal: ordinal as u32 });
        if self.top.len() < self.limit {
            self.top.push(Reverse(micros));
        } else if self.top.peek().is_some_and(|lowest| micros > lowest.0) {
            self.top.pop();
            self.top.push(Reverse(micros));
        }
        if self.top.len() == self.limit {
            self.least = self.top.peek().map_or(1, |lowest| lowest.0.max(1));
        }
        if self.found.len() > 4 * self.most + 1024 {
            self.shorten();
        }
    }

    fn shorten(&mut self) {
        self.found.retain(|one| one.micros >= self.least);
        self.found.sort_unstable();
        self.found.truncate(self.most);
    }

    /// Return True if no document with at most this score is among the best.
    fn excludes(&self, bound: f64) -> bool {
        bound * MICRO + 1.0 < self.least as f64
    }
}

impl Scores<'_> {
    /// Return the least norms and the allowed documents, or None if `best` cannot be called with these arguments.
    pub fn allowed<'a>(
        &self,
        (least_norms, bits, factors): &'a RawAllowed<'_>,
        limit: usize,
        most: usize,
    ) -> Option<(&'a [f64], Allowed<'a>)> {
        let usable = factors.iter().all(|one| one.0.is_finite() && one.0 >= 0.0)
            && least_norms.len() == self.parts.len()
            && (1..=1 << 20).contains(&limit)
            && (limit..=1 << 21).contains(&most);
        let allowed = Allowed {
            bits: bits.as_bytes(),
            factors: factors.iter().map(|(factor, bits)| (*factor, bits.as_bytes())).collect(),
            largest: factors.iter().fold(1.0, |largest, one| f64::max(largest, one.0)) * ROUNDED_UP,
        };
        usable.then_some((&least_norms[..], allowed))
    }

    /// Return the number of terms; the lists of terms are before those of tags.
    pub fn terms(&self) -> usize {
        self.lists.iter().filter(|list| matches!(list.postings, Postings::Term { .. })).count()
    }

    /// Return the length of a document.
    pub fn length(&self, ordinal: usize) -> Option<u16> {
        let part = self.parts.partition_point(|part| part.start <= ordinal).checked_sub(1)?;
        let at = 2 * (ordinal - self.parts[part].start);
        Some(u16::from_le_bytes(self.parts[part].lengths.get(at..at + 2)?.try_into().ok()?))
    }

    /// Return the best documents, the best first, or None if a row does not fit its part.
    ///
    /// The lists are visited one after another, from the one with the highest bound to the one with the lowest.
    /// A document that is in none of the lists visited so far cannot gain more than the bounds of the rest, so
    /// the visit ends as soon as their sum is too low (MaxScore: Turtle & Flood 1995).
    pub fn best(
        &self,
        least_norms: &[f64],
        allowed: &Allowed,
        limit: usize,
        most: usize,
    ) -> Option<Vec<Found>> {
        let count = self.lists.len();
        let largest: Vec<Vec<f64>> = self
            .lists
            .iter()
            .map(|list| (0..self.parts.len()).map(|part| list.largest(part, least_norms[part])).collect())
            .collect();
        let bounds: Vec<f64> = largest.iter().map(|some| some.iter().copied().fold(0.0, f64::max)).collect();
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by(|&one, &other| bounds[other].total_cmp(&bounds[one]).then(one.cmp(&other)));
        // For each part and each place in the order: the sum of the bounds from this place on.
        let rest: Vec<Vec<f64>> = (0..self.parts.len())
            .map(|part| {
                let mut sums = vec![0.0; count + 1];
                for place in (0..count).rev() {
                    sums[place] = sums[place + 1] + largest[order[place]][part];
                }
                sums
            })
            .collect();
        let mut best = Best { limit, most, top: BinaryHeap::new(), found: Vec::new(), least: 1 };
        for place in 0..count {
            for part in 0..self.parts.len() {
                if self.lists[order[place]].len(part) > 0
                    && !best.excludes(rest[part][place] * allowed.largest)
                {
                    self.visit(place, part, &order, &rest[part], least_norms[part], allowed, &mut best)?;
                }
            }
        }
        best.shorten();
        let last = best.found.get(limit - 1).map_or(1, |one| one.micros);
        best.found.retain(|one| one.micros >= last);
        Some(best.found)
    }

    /// Add the documents of one list in one part that are in none of the lists before it.
    #[allow(clippy::too_many_arguments)]
    fn visit(
        &self,
        place: usize,
        part: usize,
        order: &[usize],
        rest: &[f64],
        least_norm: f64,
        allowed: &Allowed,
        best: &mut Best,
    ) -> Option<()> {
        let own = order[place];
        let list = &self.lists[own];
        let start = self.parts[part].start;
        let mut cursors = vec![Cursor::default(); self.lists.len()];
        let mut gains = vec![0.0; self.lists.len()];
        let (mut least, mut least_tf) = (-1, 0);
        for at in 0..list.len(part) {
            if at % STRIDE == 0 && best.least != least {
                least = best.least;
                let possible = |tf: u8| {
                    let bound = list.bound(part, tf, least_norm) + rest[place + 1];
                    !best.excludes(bound * allowed.largest)
                };
                least_tf = (1..=u8::MAX).find(|&tf| possible(tf)).unwrap_or(u8::MAX);
            }
            let (offset, tf) = match &list.postings {
                Postings::Term { rows, .. } => {
                    let row = rows[part].as_ref()?;
                    if row.tfs[at] < least_tf {
                        continue;
                    }
                    (row.offset(at), row.tfs[at])
                }
                Postings::Tag { parts } => (ordinal_in(parts[part], at).checked_sub(start)?, 0),
            };
            let ordinal = start + offset;
            if !bit(allowed.bits, ordinal) {
                continue;
            }
            // A document of the tail that has no length yet can only be named by a tag.
            let norm = self.parts[part].norm(self.norms, offset)?;
            gains[own] = match &list.postings {
                Postings::Term { heads, head, .. } => {
                    let heads = heads.get(part).and_then(Option::as_ref);
                    list.weighted(tf, heads, *head, offset, norm, &mut cursors[own])
                }
                Postings::Tag { .. } => list.weight,
            };
            let mut sum = gains[own];
            let excluded = order[place + 1..].iter().enumerate().any(|(next, &other)| {
                if best.excludes((sum + rest[place + 1 + next]) * ROUNDED_UP * allowed.largest) {
                    return true;
                }
                gains[other] = self.lists[other].gain(part, start, offset, norm, &mut cursors[other]);
                sum += gains[other];
                false
            });
            if excluded || best.excludes(sum * ROUNDED_UP * allowed.largest) {
                continue;
            }
            let visited = order[..place].iter().any(|&other| {
                gains[other] = self.lists[other].gain(part, start, offset, norm, &mut cursors[other]);
                gains[other] > 0.0
            });
            if !visited {
                best.add(allowed.micros(ordinal, gains.iter().fold(0.0, |sum, gain| sum + gain)), ordinal);
            }
        }
        Some(())
    }

    /// Return what each document gains from each list, list by list, and the sums for all documents.
    pub fn at(&self, ordinals: &[i64]) -> Option<(Vec<f64>, Vec<f64>)> {
        let mut matrix = vec![0.0; self.lists.len() * ordinals.len()];
        let mut sums = vec![0.0; ordinals.len()];
        let places: Vec<Option<(usize, usize, f64)>> = ordinals
            .iter()
            .map(|&ordinal| {
                let ordinal = usize::try_from(ordinal).ok()?;
                let part = self.parts.partition_point(|part| part.start <= ordinal).checked_sub(1)?;
                let offset = ordinal - self.parts[part].start;
                Some((part, offset, self.parts[part].norm(self.norms, offset)?))
            })
            .collect();
        for (number, list) in self.lists.iter().enumerate() {
            let row = &mut matrix[number * ordinals.len()..(number + 1) * ordinals.len()];
            let (mut before, mut cursor) = ((usize::MAX, 0), Cursor::default());
            for ((place, gain), sum) in places.iter().zip(row).zip(&mut sums) {
                let Some((part, offset, norm)) = *place else { continue };
                if part != before.0 || offset < before.1 {
                    cursor = Cursor::default();
                }
                before = (part, offset);
                *gain = list.gain(part, self.parts[part].start, offset, norm, &mut cursor);
                *sum += *gain;
            }
        }
        Some((matrix, sums))
    }
}

impl Scores<'_> {
    /// Return whether each document gains nothing from any list.
    fn lacking(&self, ordinals: &[i64]) -> Vec<bool> {
        let size = |list: &List<'_>| (0..self.parts.len()).map(|part| list.len(part)).sum::<usize>();
        let mut order: Vec<&List<'_>> = self.lists.iter().collect();
        // The list with the most documents says soonest that a document is not lacking.
        order.sort_by_cached_key(|list| Reverse(size(list)));
        let mut cursors = vec![Cursor::default(); order.len()];
        let mut before = (usize::MAX, 0);
        let gains = |ordinal: i64| {
            let ordinal = usize::try_from(ordinal).ok()?;
            let part = self.parts.partition_point(|part| part.start <= ordinal).checked_sub(1)?;
            let start = self.parts[part].start;
            let offset = ordinal - start;
            let norm = self.parts[part].norm(self.norms, offset)?;
            if part != before.0 || offset < before.1 {
                cursors.fill(Cursor::default());
            }
            before = (part, offset);
            let mut each = order.iter().zip(&mut cursors);
            Some(each.any(|(list, cursor)| list.gain(part, start, offset, norm, cursor) > 0.0))
        };
        let found: Vec<Option<bool>> = ordinals.iter().copied().map(gains).collect();
        found.into_iter().map(|found| found != Some(true)).collect()
    }
}

/// Return the places of the best `most` scores above 0, from the highest to the lowest, and of those equal to the
/// last. The twin is `pool.ranked`.
#[pyfunction]
fn ranked<'py>(py: Python<'py>, scores: &[u8], most: usize) -> Option<Bound<'py, PyBytes>> {
    let mut found = Vec::with_capacity(scores.len() / 8);
    for (place, raw) in (0_i64..).zip(scores.chunks_exact(8)) {
        let micros = (f64::from_le_bytes(raw.try_into().ok()?) * MICRO).round_ties_even();
        if micros.is_nan() || micros.abs() >= 1e18 {
            return None;
        }
        if micros > 0.0 {
            found.push((-(micros as i64), place));
        }
    }
    if (1..found.len()).contains(&most) {
        let (_, last, _) = found.select_nth_unstable(most - 1);
        let lowest = last.0;
        found.retain(|one| one.0 <= lowest);
    }
    found.sort_unstable();
    let raw: Vec<u8> = found.iter().flat_map(|one| one.1.to_le_bytes()).collect();
    Some(PyBytes::new(py, &raw))
}

pub fn bytes_of(numbers: &[f64]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// Return the ordinals of the best documents and their scores in millionths, eight bytes each.
#[pyfunction]
fn best_documents<'py>(
    py: Python<'py>,
    lists: Lists<'py>,
    allowed: RawAllowed<'py>,
    limit: usize,
    most: usize,
) -> Option<(Bound<'py, PyBytes>, Bound<'py, PyBytes>)> {
    let scores = Scores::parse(&lists)?;
    let (least_norms, allowed) = scores.allowed(&allowed, limit, most)?;
    let found = py.detach(|| scores.best(least_norms, &allowed, limit, most))?;
    let ordinals: Vec<u8> = found.iter().flat_map(|one| i64::from(one.ordinal).to_le_bytes()).collect();
    let micros: Vec<u8> = found.iter().flat_map(|one| one.micros.to_le_bytes()).collect();
    Some((PyBytes::new(py, &ordinals), PyBytes::new(py, &micros)))
}

/// Return what each document gains from each list, list by list, and the sums, as doubles of eight bytes.
#[pyfunction]
fn gains_at<'py>(
    py: Python<'py>,
    lists: Lists<'py>,
    ordinals: &[u8],
) -> Option<(Bound<'py, PyBytes>, Bound<'py, PyBytes>)> {
    let scores = Scores::parse(&lists)?;
    let ordinals: Vec<i64> = ordinals
        .chunks_exact(8)
        .map(|raw| i64::from_le_bytes([raw[0], raw[1], raw[2], raw[3], raw[4], raw[5], raw[6], raw[7]]))
        .collect();
    let (matrix, sums) = scores.at(&ordinals)?;
    Some((PyBytes::new(py, &bytes_of(&matrix)), PyBytes::new(py, &bytes_of(&sums))))
}

/// Return whether the score of each document is 0. The twin is `WordScores.lacking`.
#[pyfunction]
fn lacking<'py>(py: Python<'py>, lists: Lists<'py>, ordinals: &[u8]) -> Option<Bound<'py, PyBytes>> {
    let scores = Scores::parse(&lists)?;
    let ordinals: Vec<i64> = ordinals
        .chunks_exact(8)
        .map(|raw| i64::from_le_bytes([raw[0], raw[1], raw[2], raw[3], raw[4], raw[5], raw[6], raw[7]]))
        .collect();
    let found: Vec<u8> = scores.lacking(&ordinals).into_iter().map(u8::from).collect();
    Some(PyBytes::new(py, &found))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(lacking, module)?)?;
    module.add_function(wrap_pyfunction!(best_documents, module)?)?;
    module.add_function(wrap_pyfunction!(ranked, module)?)?;
    module.add_function(wrap_pyfunction!(gains_at, module)?)
}
