//! The atoms near hits, and what the candidates gain from the scores near them and in their sources.
//!
//! The twins are in `engine/query/recall/signals/anchors.py`. Numbers in bytes are eight
//! bytes each, least significant byte first.

use crate::places::{At, Places};

pub fn bytes_of(numbers: &[f64]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

pub fn ordinals_of(ordinals: impl Iterator<Item = i64>) -> Vec<u8> {
    ordinals.flat_map(i64::to_le_bytes).collect()
}

/// Return the larger number as numpy does: a number that is not a number is passed on.
fn larger(one: f64, other: f64) -> f64 {
    if one >= other || one.is_nan() {
        one
    } else {
        other
    }
}

/// The neighbours of the hits in one direction and at one distance, −1 for none.
pub type Others = Vec<i64>;

/// Return the hits and their neighbours, ascending; and the neighbours of the hits in each direction, first
/// before them and then after them, at each distance up to `steps`.
pub fn neighbours(
    places: &Places<'_>,
    live: &[u8],
    hits: &[i64],
    steps: usize,
) -> Option<(Vec<i64>, Vec<Others>)> {
    if steps > 8 {
        return None;
    }
    // All neighbours of a hit have the title of the hit.
    let mut starts = Vec::with_capacity(hits.len());
    let mut titles = Vec::with_capacity(hits.len());
    for hit in hits {
        let hit = usize::try_from(*hit).ok()?;
        starts.push(places.place(hit).map(|at| (hit, at)));
        titles.push(places.title(hit).unwrap_or(0));
    }
    let mut all = hits.to_vec();
    let mut near = Vec::with_capacity(2 * steps);
    for after in [false, true] {
        let mut others = starts.clone();
        for _ in 0..steps {
            for (other, title) in others.iter_mut().zip(&titles) {
                *other = other.and_then(|(_, at)| places.beside(at, *title, live, after));
            }
            let found: Others =
                others.iter().map(|other| other.map_or(-1, |(ordinal, _)| ordinal as i64)).collect();
            all.extend(found.iter().filter(|other| **other >= 0));
            near.push(found);
        }
    }
    all.sort_unstable();
    all.dedup();
    Some((all, near))
}

/// The candidates in ascending order, and the scores of the terms, one row for each term.
pub struct Candidates {
    pub ordinals: Vec<i64>,
    pub scores: Vec<f64>,
}

impl Candidates {
    fn size(&self) -> usize {
        self.ordinals.len()
    }

    /// Return what each candidate lacks of the best scores of each term that nearby hits pass on, summed up.
    fn nearby(&self, lent: &[f64], hits: &[i64], near: &[(f64, Others)]) -> Option<Vec<f64>> {
        let row = |ordinal: &i64| self.ordinals.binary_search(ordinal).ok();
        let givers: Vec<usize> = hits.iter().map(row).collect::<Option<_>>()?;
        let mut pairs = Vec::new();
        for (factor, others) in near {
            if others.len() != hits.len() {
                return None;
            }
            for (giver, other) in givers.iter().zip(others).filter(|(_, other)| **other >= 0) {
                pairs.push((*giver, row(other)?, *factor));
            }
        }
        let mut sums = vec![0.0; self.size()];
        let mut best = vec![0.0; self.size()];
        let rows = self.scores.chunks_exact(self.size());
        for (scores, lent) in rows.zip(lent.chunks_exact(self.size())) {
            best.fill(0.0);
            for &(giver, receiver, factor) in &pairs {
                best[receiver] = larger(best[receiver], factor * lent[giver]);
            }
            let lacking = best.iter().zip(scores).map(|(best, own)| larger(best - own, 0.0));
            sums.iter_mut().zip(lacking).for_each(|(sum, amount)| *sum += amount);
        }
        Some(sums)
    }

    /// Return the scores that each candidate lends (`surroundings.lent`).
    fn lent(&self) -> Vec<f64> {
        let mut shares = vec![0.0; self.size()];
        for scores in self.scores.chunks_exact(self.size()) {
            shares.iter_mut().zip(scores).for_each(|(sum, score)| *sum += score);
        }
        let best = shares.iter().fold(0.0, |best, sum| larger(best, *sum));
        let best = if best > 0.0 { best } else { 1.0 };
        shares.iter_mut().for_each(|share| *share = (*share / best).sqrt());
        self.scores.iter().zip(shares.iter().cycle()).map(|(score, share)| score * share).collect()
    }

    /// Return what each candidate gains from its neighbours and from its source (`surroundings.amounts_of`).
    pub fn amounts(
        &self,
        places: &Places,
        length: impl Fn(usize) -> Option<f64>,
        hits: &[i64],
        near: &[(f64, Others)],
        sizes: Sizes,
        (of_near, of_sources, full, titled): Weights,
    ) -> Option<(Vec<f64>, Vec<f64>)> {
        let lent = self.lent();
        let mut nearby = self.nearby(&lent, hits, near)?;
        let mut of_source = self.of_sources(&lent, places, sizes);
        for ((ordinal, near), source) in self.ordinals.iter().zip(&mut nearby).zip(&mut of_source) {
            let ordinal = usize::try_from(*ordinal).ok()?;
            let gain = f64::min(1.0, full / f64::max(length(ordinal)?, 1.0));
            let gain = gain * gain * if places.title(ordinal)? > 0 { titled } else { 1.0 };
            *near *= of_near * gain;
            *source *= of_sources * gain;
        }
        Some((nearby, of_source))
    }

    /// Return what each candidate lacks of the best scores of each term in its source, if the source is small.
    fn of_sources(&self, lent: &[f64], places: &Places, (full, most): Sizes) -> Vec<f64> {
        let at: Vec<Option<At>> =
            self.ordinals.iter().map(|one| places.place(usize::try_from(*one).ok()?)).collect();
        let rows = at.iter().enumerate();
        let mut members: Vec<(u64, usize)> =
            rows.filter_map(|(row, at)| Some((places.source((*at)?)?, row))).collect();
        members.sort_unstable();
        let mut sums = vec![0.0; self.size()];
        for group in members.chunk_by(|one, other| one.0 == other.0) {
            let size = at[group[0].1].and_then(|at| places.size(at, most)).unwrap_or(0);
            if !(2..=most).contains(&size) {
                continue;
            }
            let rows = self.scores.chunks_exact(self.size());
            for (scores, lent) in rows.zip(lent.chunks_exact(self.size())) {
                let best = group.iter().fold(f64::NEG_INFINITY, |best, (_, row)| larger(best, lent[*row]));
                group.iter().for_each(|(_, row)| sums[*row] += larger(best - scores[*row], 0.0));
            }
            let share = f64::min(1.0, full / size as f64);
            group.iter().for_each(|(_, row)| sums[*row] *= share);
        }
        sums
    }
}

/// The weights of neighbours and of sources, the length above which a document gains less, and the share that a
/// document with a title gains from both.
pub type Weights = (f64, f64, f64, f64);

/// The number of documents above which a source passes less on, and above which it passes nothing on.
pub type Sizes = (f64, usize);
