//! Whether trees have leaves for keys. The twin is `engine.ledger.pages.PagedTree.holds`.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

use crate::digests::{Digest, Role, DIGEST};

const HEAD: usize = 4;

/// What a page says about a digest.
enum Found {
    Leaf(bool),
    Below,
}

/// Return the bytes of the digest that name its page at `depth`.
fn path_of(digest: &Digest, depth: usize) -> Vec<u8> {
    let whole = depth / 2;
    let mut path = digest[..whole].to_vec();
    if depth % 2 == 1 {
        path.push(digest[whole] & 0xF0);
    }
    path
}

/// Read the slot of a digest in a page at `depth`, or return None if the page is too short.
fn look(page: &[u8], digest: &Digest, depth: usize) -> Option<Found> {
    let head = u32::from_be_bytes(page.get(..HEAD)?.try_into().ok()?);
    let (occupied, leaves) = (head >> 16, head & 0xFFFF);
    let nibble = u32::from(digest[depth / 2] >> (if depth % 2 == 1 { 0 } else { 4 }) & 15);
    if occupied >> nibble & 1 == 0 {
        return Some(Found::Leaf(false));
    }
    let below = (1 << nibble) - 1;
    let before = (occupied & below).count_ones() + (leaves & below).count_ones();
    let at = HEAD + DIGEST * before as usize;
    let slot = page.get(at..at + DIGEST)?;
    if leaves >> nibble & 1 == 0 {
        return Some(Found::Below);
    }
    page.get(at + DIGEST..at + 2 * DIGEST)?;
    Some(Found::Leaf(slot == digest))
}

/// Return whether the tree of `namespace`, whose pages begin with `prefix`, has a leaf for each of `keys`.
///
/// `pages` holds pages that were read before; those that `read` returns now are added. A missing page is
/// declined.
#[pyfunction]
fn tree_holds<'py>(
    py: Python<'py>,
    namespace: &str,
    prefix: &[u8],
    keys: Vec<Bound<'py, PyBytes>>,
    pages: &Bound<'py, PyDict>,
    read: &Bound<'py, PyAny>,
) -> PyResult<Option<Vec<bool>>> {
    let Ok(length) = u8::try_from(namespace.len()) else { return Ok(None) };
    let role = Role::new("key");
    let digest = |key: &Bound<'py, PyBytes>| role.digest(&[&[length], namespace.as_bytes(), key.as_bytes()]);
    let digests: Vec<Digest> = keys.iter().map(digest).collect();
    let mut found = vec![false; digests.len()];
    let mut waiting: Vec<usize> = (0..digests.len()).collect();
    waiting.sort_unstable_by_key(|at| digests[*at]);
    let mut depth = 0;
    while !waiting.is_empty() {
        if depth >= 2 * DIGEST {
            return Ok(None);
        }
        // The digests are sorted, so those in one page follow each other.
        let groups: Vec<&[usize]> =
            waiting.chunk_by(|a, b| path_of(&digests[*a], depth) == path_of(&digests[*b], depth)).collect();
        let names: Vec<Bound<'py, PyBytes>> = groups
            .iter()
            .map(|group| {
                let path = path_of(&digests[group[0]], depth);
                PyBytes::new(py, &[prefix, &[depth as u8], &path].concat())
            })
            .collect();
        let unread = PyList::empty(py);
        for name in &names {
            if !pages.contains(name)? {
                unread.append(name)?;
            }
        }
        if !unread.is_empty() {
            let rows = read.call1((&unread,))?;
            for (name, row) in unread.iter().zip(rows.try_iter()?) {
                pages.set_item(name, row?)?;
            }
        }
        let mut below = Vec::new();
        for (group, name) in groups.iter().zip(&names) {
            let Some(page) = pages.get_item(name)? else { return Ok(None) };
            if page.is_none() && depth == 0 {
                return Ok(Some(found));
            }
            let Ok(page) = page.cast::<PyBytes>() else { return Ok(None) };
            for at in *group {
                match look(page.as_bytes(), &digests[*at], depth) {
                    Some(Found::Leaf(same)) => found[*at] = same,
                    Some(Found::Below) => below.push(*at),
                    None => return Ok(None),
                }
            }
        }
        waiting = below;
        depth += 1;
    }
    Ok(Some(found))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(tree_holds, module)?)
}
