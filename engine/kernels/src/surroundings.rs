//! The best score of each term near a candidate, and in its source.
//!
//! The twins are in `engine/query/recall/signals/surroundings.py`. Scores are a matrix of doubles with one row for
//! each term and one column for each candidate. All numbers are eight bytes, least significant byte first.

use pyo3::prelude::*;
use pyo3::types::PyBytes;

fn numbers<T>(raw: &[u8], decode: fn([u8; 8]) -> T) -> Vec<T> {
    raw.chunks_exact(8)
        .map(|one| decode([one[0], one[1], one[2], one[3], one[4], one[5], one[6], one[7]]))
        .collect()
}

fn bytes_of(numbers: &[f64]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// Return the larger number as numpy does: a number that is not a number is passed on.
fn larger(one: f64, other: f64) -> f64 {
    if one >= other || one.is_nan() {
        one
    } else {
        other
    }
}

/// Return the best score of each term that a nearby hit passes on to each candidate.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)]
fn best_nearby<'py>(
    py: Python<'py>,
    scores: &[u8],
    ordinals: &[u8],
    hits: &[u8],
    others: Vec<(f64, Bound<'py, PyBytes>)>,
) -> Option<Bound<'py, PyBytes>> {
    let ordinals = numbers(ordinals, i64::from_le_bytes);
    let scores = numbers(scores, f64::from_le_bytes);
    let hits = numbers(hits, i64::from_le_bytes);
    let size = ordinals.len();
    if size == 0 || scores.len() % size != 0 {
        return None;
    }
    let mut pairs = Vec::new();
    for (factor, others) in &others {
        let others = numbers(others.as_bytes(), i64::from_le_bytes);
        if others.len() != hits.len() {
            return None;
        }
        for (hit, other) in hits.iter().zip(others).filter(|(_, other)| *other >= 0) {
            pairs.push((ordinals.binary_search(hit).ok()?, ordinals.binary_search(&other).ok()?, *factor));
        }
    }
    let mut best = vec![0.0; scores.len()];
    for (best, scores) in best.chunks_exact_mut(size).zip(scores.chunks_exact(size)) {
        for &(giver, receiver, factor) in &pairs {
            best[receiver] = larger(best[receiver], factor * scores[giver]);
        }
    }
    Some(PyBytes::new(py, &bytes_of(&best)))
}

/// Return the group of each candidate and the best score of each term in each group, group by group ascending.
#[pyfunction]
fn best_in_groups<'py>(
    py: Python<'py>,
    scores: &[u8],
    sources: &[u8],
    chosen: &[u8],
) -> Option<(Bound<'py, PyBytes>, Bound<'py, PyBytes>)> {
    let sources = numbers(sources, u64::from_le_bytes);
    let scores = numbers(scores, f64::from_le_bytes);
    let size = sources.len();
    if size == 0 || scores.len() % size != 0 || chosen.len() != size {
        return None;
    }
    let mut known: Vec<u64> = (0..size).filter(|&at| chosen[at] != 0).map(|at| sources[at]).collect();
    known.sort_unstable();
    known.dedup();
    let groups: Vec<Option<usize>> = (0..size)
        .map(|at| if chosen[at] == 0 { None } else { known.binary_search(&sources[at]).ok() })
        .collect();
    let mut best = vec![f64::NEG_INFINITY; scores.len() / size * known.len()];
    if !known.is_empty() {
        for (best, scores) in best.chunks_exact_mut(known.len()).zip(scores.chunks_exact(size)) {
            for (group, &score) in groups.iter().zip(scores) {
                if let Some(group) = *group {
                    best[group] = larger(best[group], score);
                }
            }
        }
    }
    let numbered: Vec<u8> =
        groups.iter().flat_map(|group| group.map_or(-1, |group| group as i64).to_le_bytes()).collect();
    Some((PyBytes::new(py, &numbered), PyBytes::new(py, &bytes_of(&best))))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(best_nearby, module)?)?;
    module.add_function(wrap_pyfunction!(best_in_groups, module)?)
}
