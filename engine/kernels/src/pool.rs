//! The candidates of a question, from its lists of documents to what each candidate gains.
//!
//! The twin is `engine.query.recall.signals.anchors`, which describes the arguments. One call instead of four
//! saves reading the lists twice, and making arrays that only the next call reads.

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::places::{Order, Places};
use crate::score::{Lists, RawAllowed, Scores};
use crate::surroundings::{bytes_of, neighbours, ordinals_of, Candidates, Sizes, Weights};

type Raw<'py> = Bound<'py, PyBytes>;

/// Return the candidates, the scores of each term, the scores, and what each candidate gains from its neighbours and
/// from its source.
///
/// The best `limit` documents are candidates, with those that tie with the last, `most` in all; and their
/// neighbours at each distance, whose gains are multiplied by a number of `factors`.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)]
#[allow(clippy::too_many_arguments)]
fn candidates<'py>(
    py: Python<'py>,
    lists: Lists<'py>,
    allowed: RawAllowed<'py>,
    orders: Vec<Order<'py>>,
    limit: usize,
    most: usize,
    factors: Vec<f64>,
    sizes: Sizes,
    weights: Weights,
) -> Option<(Raw<'py>, Raw<'py>, Raw<'py>, Raw<'py>, Raw<'py>)> {
    let scores = Scores::parse(&lists)?;
    let (least_norms, allowed) = scores.allowed(&allowed, limit, most)?;
    let places = Places::new(&orders);
    let (found, sums, gained) = py.detach(|| {
        let best = scores.best(least_norms, &allowed, limit, most)?;
        let hits: Vec<i64> = best.iter().map(|one| i64::from(one.ordinal)).collect();
        let (ordinals, near) = neighbours(&places, allowed.bits, &hits, factors.len())?;
        let (mut matrix, sums) = scores.at(&ordinals)?;
        matrix.truncate(scores.terms() * ordinals.len());
        let near: Vec<_> = factors.iter().cycle().copied().zip(near).collect();
        let found = Candidates { ordinals, scores: matrix };
        let length = |ordinal| scores.length(ordinal).map(f64::from);
        let gained = match found.scores.is_empty() {
            true => Default::default(),
            false => found.amounts(&places, length, &hits, &near, sizes, weights)?,
        };
        Some((found, sums, gained))
    })?;
    let raw = |numbers: &[f64]| PyBytes::new(py, &bytes_of(numbers));
    let ordinals = PyBytes::new(py, &ordinals_of(found.ordinals.iter().copied()));
    Some((ordinals, raw(&found.scores), raw(&sums), raw(&gained.0), raw(&gained.1)))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(candidates, module)?)
}
