//! Updates of trees that are stored in pages. `engine.ledger.pages` describes the pages and is the twin.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

use crate::digests::{digest_of, position, Digest, Role, BLOCK, DIGEST, EMPTY};

const HEAD: usize = 4;
const SLOTS: usize = 16;
const LEAF: usize = 2 * DIGEST;
const DEPTH_MAX: usize = 63;

/// What is below one slot: nothing, one leaf (key digest and value digest), or a subtree with this root.
#[derive(Clone, Copy, PartialEq)]
enum Slot {
    Empty,
    Leaf([u8; LEAF]),
    Root(Digest),
}

impl Slot {
    fn bytes(&self) -> &[u8] {
        match self {
            Slot::Empty => &[],
            Slot::Leaf(leaf) => leaf,
            Slot::Root(root) => root,
        }
    }
}

type Slots = [Slot; SLOTS];

/// A key digest, and the value digest that its leaf gets; None if the leaf is removed.
#[derive(Clone, Copy)]
struct Change {
    key: Digest,
    value: Option<Digest>,
    /// The value digest that the leaf must have before; None if it may have any, Some(None) if there is no leaf.
    before: Option<Option<Digest>>,
}

/// A page that an update visits. `changes[first..last]` are the changes in the subtree of the page.
struct Visit {
    path: Digest,
    parent: usize,
    nibble: usize,
    first: usize,
    last: usize,
    stored: Option<Vec<u8>>,
    slots: Slots,
    /// The root that the parent page holds, if the page has a row, which must be read.
    expected: Option<Digest>,
}

impl Visit {
    fn key<'py>(&self, py: Python<'py>, prefix: &[u8], depth: usize) -> Bound<'py, PyBytes> {
        let mut key = Vec::with_capacity(prefix.len() + 1 + DIGEST);
        key.extend_from_slice(prefix);
        key.push(depth as u8);
        key.extend_from_slice(&self.path[..depth.div_ceil(2)]);
        PyBytes::new(py, &key)
    }
}

/// What an update does to the row of a visited page.
enum Written {
    Nothing,
    Deleted,
    Put(Vec<u8>),
}

/// Return (key of a page → its new bytes or None to delete it, root of the tree), or None to decline.
///
/// `changes` maps key digests to value digests or None; `read` returns the stored pages of a list of keys. Each
/// page must have the root that its parent page holds, the tree the root `root`, unless it is None, and each leaf
/// the value digest in `before`, unless it is not there.
#[pyfunction]
#[pyo3(signature = (prefix, changes, read, before, root, /))]
fn update_pages<'py>(
    py: Python<'py>,
    prefix: &[u8],
    changes: &Bound<'py, PyDict>,
    read: &Bound<'py, PyAny>,
    before: &Bound<'py, PyDict>,
    root: Option<&[u8]>,
) -> PyResult<Option<(Bound<'py, PyDict>, Bound<'py, PyBytes>)>> {
    let Some(changes) = sorted_changes(changes, before)? else { return Ok(None) };
    let hashes = Hashes { leaf: Role::new("leaf"), node: Role::new("node") };
    let known = root;
    let root = Visit {
        path: EMPTY,
        parent: 0,
        nibble: 0,
        first: 0,
        last: changes.len(),
        stored: None,
        slots: [Slot::Empty; SLOTS],
        expected: Some(EMPTY),
    };
    let mut levels: Vec<Vec<Visit>> = Vec::new();
    let mut level = vec![root];
    while !level.is_empty() {
        let depth = levels.len();
        if depth > DEPTH_MAX || !read_level(py, prefix, depth, &mut level, read)? {
            return Ok(None);
        }
        let below = py.detach(|| descend(&mut level, depth, &changes, &hashes, known));
        let Some(below) = below else { return Ok(None) };
        levels.push(level);
        level = below;
    }
    let (written, root) = py.detach(|| ascend(&mut levels, &hashes));
    let pages = PyDict::new(py);
    for (depth, (level, written)) in levels.iter().zip(&written).enumerate().rev() {
        for (visit, written) in level.iter().zip(written) {
            match written {
                Written::Nothing => {}
                Written::Deleted => pages.set_item(visit.key(py, prefix, depth), py.None())?,
                Written::Put(page) => pages.set_item(visit.key(py, prefix, depth), PyBytes::new(py, page))?,
            }
        }
    }
    Ok(Some((pages, PyBytes::new(py, &root))))
}

/// Return the changes in the order of their key digests, or None if a digest does not have 32 bytes.
fn sorted_changes(changes: &Bound<'_, PyDict>, before: &Bound<'_, PyDict>) -> PyResult<Option<Vec<Change>>> {
    let mut sorted = Vec::with_capacity(changes.len());
    let any_before = !before.is_empty();
    for (key, value) in changes.iter() {
        let earlier = if any_before { before.get_item(&key)? } else { None };
        let before = match earlier {
            None => None,
            Some(value) => match optional_digest(&value) {
                None => return Ok(None),
                found => found,
            },
        };
        let (Some(key), Some(value)) = (digest_in(&key), optional_digest(&value)) else { return Ok(None) };
        sorted.push(Change { key, value, before });
    }
    sorted.sort_unstable_by_key(|one| one.key);
    Ok(Some(sorted))
}

/// Return the digest in `value`, or Some(None) if `value` is None; None if it is anything else.
fn optional_digest(value: &Bound<'_, PyAny>) -> Option<Option<Digest>> {
    if value.is_none() {
        return Some(None);
    }
    digest_in(value).map(Some)
}

fn digest_in(value: &Bound<'_, PyAny>) -> Option<Digest> {
    value.cast::<PyBytes>().ok()?.as_bytes().try_into().ok()
}

/// Read the stored pages of a level; return false if one is missing or is not bytes.
fn read_level(
    py: Python<'_>,
    prefix: &[u8],
    depth: usize,
    level: &mut [Visit],
    read: &Bound<'_, PyAny>,
) -> PyResult<bool> {
    let keys = PyList::empty(py);
    for visit in level.iter().filter(|visit| visit.expected.is_some()) {
        keys.append(visit.key(py, prefix, depth))?;
    }
    if keys.is_empty() {
        return Ok(true);
    }
    let pages = read.call1((keys,))?;
    let mut pages = pages.try_iter()?;
    for visit in level.iter_mut().filter(|visit| visit.expected.is_some()) {
        let Some(page) = pages.next() else { return Ok(false) };
        let page = page?;
        if let Ok(raw) = page.cast::<PyBytes>() {
            visit.stored = Some(raw.as_bytes().to_vec());
        } else if depth > 0 || !page.is_none() {
            return Ok(false);
        }
    }
    Ok(pages.next().is_none())
}

/// Decode the pages of a level and set their leaves; return the visits of the next level, or None to decline.
fn descend(
    level: &mut [Visit],
    depth: usize,
    changes: &[Change],
    hashes: &Hashes,
    known: Option<&[u8]>,
) -> Option<Vec<Visit>> {
    let mut stored_slots = Vec::new();
    let mut roots = Vec::new();
    for visit in level.iter_mut() {
        if let Some(stored) = &visit.stored {
            visit.slots = decode(stored, depth, &visit.path)?;
            stored_slots.push(visit.slots);
            roots.extend(visit.expected);
        }
    }
    if depth > 0 {
        let folded = hashes.fold(stored_slots);
        if folded.len() != roots.len()
            || folded.iter().zip(&roots).any(|(slot, root)| *slot != Slot::Root(*root))
        {
            return None;
        }
    } else if let (Some(known), Some(visit)) = (known, level.first()) {
        if hashes.root(visit.slots) != *known {
            return None;
        }
    }
    let mut below = Vec::new();
    for (at, visit) in level.iter_mut().enumerate() {
        spread(visit, at, depth, changes, &mut below)?;
    }
    Some(below)
}

/// Decode a stored page, or return None if it breaks a rule of the format.
fn decode(stored: &[u8], depth: usize, path: &Digest) -> Option<Slots> {
    if stored.len() < HEAD {
        return None;
    }
    let occupied = u16::from_be_bytes([stored[0], stored[1]]);
    let leaves = u16::from_be_bytes([stored[2], stored[3]]);
    let (count, leaf_count) = (occupied.count_ones() as usize, leaves.count_ones() as usize);
    if stored.len() != HEAD + DIGEST * (count + leaf_count)
        || leaves & !occupied != 0
        || count == 0
        || (depth > 0 && count == 1 && leaf_count == 1)
        || (depth == DEPTH_MAX && count != leaf_count)
    {
        return None;
    }
    let mut slots = [Slot::Empty; SLOTS];
    let mut rest = &stored[HEAD..];
    for (nibble, slot) in slots.iter_mut().enumerate() {
        if occupied >> nibble & 1 == 0 {
            continue;
        }
        if leaves >> nibble & 1 == 0 {
            let root = digest_of(rest);
            if root == EMPTY {
                return None;
            }
            *slot = Slot::Root(root);
            rest = &rest[DIGEST..];
            continue;
        }
        let (leaf, after) = rest.split_at(LEAF);
        let whole = depth / 2;
        let same_path =
            leaf[..whole] == path[..whole] && (depth % 2 == 0 || leaf[whole] >> 4 == path[whole] >> 4);
        if !same_path || nibble_of(leaf, depth) != nibble {
            return None;
        }
        let mut copy = [0; LEAF];
        copy.copy_from_slice(leaf);
        *slot = Slot::Leaf(copy);
        rest = after;
    }
    Some(slots)
}

fn nibble_of(key: &[u8], depth: usize) -> usize {
    let byte = key[depth / 2];
    usize::from(if depth % 2 == 0 { byte >> 4 } else { byte & 15 })
}

/// Set the leaves that belong in the page of `visit`; append a visit to `below` for each deeper page.
///
/// Return None if a leaf does not have the value digest that it must have.
fn spread(
    visit: &mut Visit,
    at: usize,
    depth: usize,
    changes: &[Change],
    below: &mut Vec<Visit>,
) -> Option<()> {
    let mut first = visit.first;
    while first < visit.last {
        let Change { key, value, before } = changes[first];
        let nibble = nibble_of(&key, depth);
        let mut end = first + 1;
        while end < visit.last && nibble_of(&changes[end].key, depth) == nibble {
            end += 1;
        }
        let slot = visit.slots[nibble];
        let stays = match slot {
            Slot::Empty => true,
            Slot::Leaf(leaf) => leaf[..DIGEST] == key,
            Slot::Root(_) => false,
        };
        if end - first == 1 && stays {
            let present = match slot {
                Slot::Leaf(leaf) => Some(digest_of(&leaf[DIGEST..])),
                _ => None,
            };
            if before.is_some_and(|before| before != present) {
                return None;
            }
            visit.slots[nibble] = match value {
                None => Slot::Empty,
                Some(value) => Slot::Leaf(joined(&key, &value)),
            };
        } else {
            let mut slots = [Slot::Empty; SLOTS];
            if let Slot::Leaf(leaf) = slot {
                // The slot is not in the last nibble, because two different keys are below it.
                slots[nibble_of(&leaf, depth + 1)] = slot;
            }
            let mut path = visit.path;
            path[depth / 2] |= (nibble as u8) << if depth % 2 == 0 { 4 } else { 0 };
            let expected = match slot {
                Slot::Root(root) => Some(root),
                _ => None,
            };
            below.push(Visit { path, parent: at, nibble, first, last: end, stored: None, slots, expected });
        }
        first = end;
    }
    Some(())
}

fn joined(left: &Digest, right: &Digest) -> [u8; BLOCK] {
    let mut both = [0; BLOCK];
    both[..DIGEST].copy_from_slice(left);
    both[DIGEST..].copy_from_slice(right);
    both
}

/// Encode each changed page, from the deepest level up; return what is written, and the root of the tree.
fn ascend(levels: &mut [Vec<Visit>], hashes: &Hashes) -> (Vec<Vec<Written>>, Digest) {
    let mut written: Vec<Vec<Written>> = levels.iter().map(|_| Vec::new()).collect();
    for depth in (0..levels.len()).rev() {
        let (above, rest) = levels.split_at_mut(depth);
        let level = &rest[0];
        let mut folded = Vec::new();
        for (at, visit) in level.iter().enumerate() {
            let mut occupied = visit.slots.iter().filter(|slot| **slot != Slot::Empty);
            let only = match (occupied.next(), occupied.next()) {
                (None, _) => Some(Slot::Empty),
                (Some(leaf @ Slot::Leaf(_)), None) if depth > 0 => Some(*leaf),
                _ => None,
            };
            let one = if only.is_some() {
                if visit.stored.is_some() {
                    Written::Deleted
                } else {
                    Written::Nothing
                }
            } else {
                let page = encode(&visit.slots);
                if visit.stored.as_ref() == Some(&page) {
                    Written::Nothing
                } else {
                    Written::Put(page)
                }
            };
            match (only, &one, above.last_mut()) {
                // The leaf of a page that is too small, if any, moves up unchanged.
                (Some(slot), _, Some(above)) => above[visit.parent].slots[visit.nibble] = slot,
                (None, Written::Put(_), Some(_)) => folded.push(at),
                _ => {}
            }
            written[depth].push(one);
        }
        let roots = hashes.fold(folded.iter().map(|at| level[*at].slots).collect());
        if let Some(above) = above.last_mut() {
            for (at, root) in folded.into_iter().zip(roots) {
                above[level[at].parent].slots[level[at].nibble] = root;
            }
        }
    }
    let root = levels.first().map_or(EMPTY, |level| hashes.root(level[0].slots));
    (written, root)
}

fn encode(slots: &Slots) -> Vec<u8> {
    let (mut occupied, mut leaves) = (0u16, 0u16);
    let mut page = Vec::with_capacity(HEAD + SLOTS * LEAF);
    page.extend_from_slice(&[0; HEAD]);
    for (nibble, slot) in slots.iter().enumerate() {
        occupied |= u16::from(*slot != Slot::Empty) << nibble;
        leaves |= u16::from(matches!(slot, Slot::Leaf(_))) << nibble;
        page.extend_from_slice(slot.bytes());
    }
    page[..2].copy_from_slice(&occupied.to_be_bytes());
    page[2..HEAD].copy_from_slice(&leaves.to_be_bytes());
    page
}

struct Hashes {
    leaf: Role,
    node: Role,
}

impl Hashes {
    /// Return the root of the tree whose page of the root has these slots.
    fn root(&self, slots: Slots) -> Digest {
        match self.fold(vec![slots]).pop() {
            Some(Slot::Root(root)) => root,
            Some(Slot::Leaf(leaf)) => self.leaf.digest_blocks(&[leaf])[0],
            _ => EMPTY,
        }
    }

    /// Combine the 16 slots of each page into one slot.
    fn fold(&self, pages: Vec<Slots>) -> Vec<Slot> {
        let mut slots: Vec<Slot> = pages.into_iter().flatten().collect();
        for _ in 0..4 {
            slots = self.parents(slots);
        }
        slots
    }

    /// Return the bit level above `slots`, with half as many slots.
    fn parents(&self, mut slots: Vec<Slot>) -> Vec<Slot> {
        let (mut leaves, mut places) = (Vec::new(), Vec::new());
        for (at, pair) in slots.chunks_exact(2).enumerate() {
            if pair[0] == Slot::Empty || pair[1] == Slot::Empty {
                continue; // a leaf without a neighbour moves up
            }
            for (side, slot) in pair.iter().enumerate() {
                if let Slot::Leaf(leaf) = slot {
                    leaves.push(*leaf);
                    places.push(2 * at + side);
                }
            }
        }
        for (place, hash) in places.into_iter().zip(self.leaf.digest_blocks(&leaves)) {
            slots[place] = Slot::Root(hash);
        }
        let (mut nodes, mut places) = (Vec::new(), Vec::new());
        let mut parents = Vec::with_capacity(slots.len() / 2);
        for pair in slots.chunks_exact(2) {
            let (left, right) = match (pair[0], pair[1]) {
                (Slot::Root(left), Slot::Root(right)) => (left, right),
                (Slot::Root(left), _) => (left, EMPTY),
                (_, Slot::Root(right)) => (EMPTY, right),
                (Slot::Empty, slot) | (slot, _) => {
                    parents.push(slot);
                    continue;
                }
            };
            nodes.push(joined(&left, &right));
            places.push(parents.len());
            parents.push(Slot::Empty);
        }
        for (place, hash) in places.into_iter().zip(self.node.digest_blocks(&nodes)) {
            parents[place] = Slot::Root(hash);
        }
        parents
    }
}

/// Return whether a tree has a leaf for each of `keys`, or None to decline.
///
/// `pages` holds pages that were read before; `read` returns the stored pages of a list of keys, which are added.
#[pyfunction]
fn held_leaves<'py>(
    py: Python<'py>,
    prefix: &[u8],
    namespace: &str,
    keys: Vec<Bound<'py, PyBytes>>,
    pages: &Bound<'py, PyDict>,
    read: &Bound<'py, PyAny>,
) -> PyResult<Option<Vec<bool>>> {
    let role = Role::new("key");
    let mut waiting: Vec<(Digest, usize)> = keys
        .iter()
        .enumerate()
        .map(|(at, key)| (position(&role, namespace.as_bytes(), key.as_bytes()), at))
        .collect();
    waiting.sort_unstable();
    let mut held = vec![false; keys.len()];
    let mut depth = 0;
    while !waiting.is_empty() {
        if depth > DEPTH_MAX {
            return Ok(None);
        }
        let found = pages_on(py, prefix, depth, &waiting, pages, read)?;
        let mut below = Vec::with_capacity(waiting.len());
        for (run, page) in waiting.chunk_by(|one, other| same_path(&one.0, &other.0, depth)).zip(found) {
            let Some(page) = page else {
                if depth > 0 {
                    return Ok(None);
                }
                continue;
            };
            let stored = page.as_bytes();
            for one in run {
                match slot_in(stored, nibble_of(&one.0, depth)) {
                    None => return Ok(None),
                    Some(slot) if slot.len() == DIGEST => below.push(*one),
                    Some(slot) => held[one.1] = slot.get(..DIGEST) == Some(&one.0[..]),
                }
            }
        }
        (waiting, depth) = (below, depth + 1);
    }
    Ok(Some(held))
}

/// Return the page of each run of `waiting` with the same path, which must be sorted; None where there is no row.
fn pages_on<'py>(
    py: Python<'py>,
    prefix: &[u8],
    depth: usize,
    waiting: &[(Digest, usize)],
    pages: &Bound<'py, PyDict>,
    read: &Bound<'py, PyAny>,
) -> PyResult<Vec<Option<Bound<'py, PyBytes>>>> {
    let mut found = Vec::new();
    let (unread, mut places) = (PyList::empty(py), Vec::new());
    let mut key = prefix.to_vec();
    for run in waiting.chunk_by(|one, other| same_path(&one.0, &other.0, depth)) {
        key.truncate(prefix.len());
        key.push(depth as u8);
        key.extend_from_slice(&run[0].0[..depth.div_ceil(2)]);
        if let (1, Some(last)) = (depth % 2, key.last_mut()) {
            *last &= 0xF0;
        }
        let key = PyBytes::new(py, &key);
        match pages.get_item(&key)? {
            Some(page) => found.push(page.cast_into::<PyBytes>().ok()),
            None => {
                unread.append(key)?;
                places.push(found.len());
                found.push(None);
            }
        }
    }
    if !places.is_empty() {
        for ((key, page), place) in unread.iter().zip(read.call1((&unread,))?.try_iter()?).zip(places) {
            let page = page?;
            pages.set_item(key, &page)?;
            found[place] = page.cast_into::<PyBytes>().ok();
        }
    }
    Ok(found)
}

fn same_path(one: &Digest, other: &Digest, depth: usize) -> bool {
    let whole = depth / 2;
    one[..whole] == other[..whole] && (depth % 2 == 0 || one[whole] >> 4 == other[whole] >> 4)
}

/// Return one slot of a stored page, which is empty if there is no leaf below; None if the page is too short.
fn slot_in(stored: &[u8], nibble: usize) -> Option<&[u8]> {
    let head = stored.get(..HEAD)?;
    let occupied = u16::from_be_bytes([head[0], head[1]]);
    let leaves = u16::from_be_bytes([head[2], head[3]]);
    if occupied >> nibble & 1 == 0 {
        return Some(&[]);
    }
    let below = (1u16 << nibble) - 1;
    let before = (occupied & below).count_ones() + (leaves & below).count_ones();
    let start = HEAD + DIGEST * before as usize;
    stored.get(start..start + if leaves >> nibble & 1 == 1 { LEAF } else { DIGEST })
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(held_leaves, module)?)?;
    module.add_function(wrap_pyfunction!(update_pages, module)?)
}
