//! The stored form of the numbers that a segment has for each document. The twin is
//! `engine.index.document_numbers`.

const WIDTH_MAX: usize = 8;
const LISTED: u8 = 0x10;
const COUNT_BYTES: usize = 4;
const PLACE_BYTES_MAX: usize = 2;

fn width_of(number: u64) -> usize {
    (u64::BITS - number.leading_zeros()).div_ceil(8) as usize
}

/// Append the stored form of a column, of which each number has `wide` bytes, the lowest first.
pub fn encode(column: &[u8], wide: usize, out: &mut Vec<u8>) {
    let numbers: Vec<u64> = column.chunks_exact(wide).map(number).collect();
    let mut distinct = numbers.clone();
    distinct.sort_unstable();
    distinct.dedup();
    let width = width_of(distinct.last().copied().unwrap_or(0));
    let place_width = width_of(distinct.len().saturating_sub(1) as u64);
    let listed = COUNT_BYTES + WIDTH_MAX * distinct.len() + place_width * numbers.len();
    if listed >= width * numbers.len() {
        out.push(width as u8);
        for number in numbers {
            out.extend_from_slice(&number.to_le_bytes()[..width]);
        }
        return;
    }
    out.push(LISTED + place_width as u8);
    out.extend_from_slice(&(distinct.len() as u32).to_le_bytes());
    out.extend(distinct.iter().flat_map(|number| number.to_le_bytes()));
    for number in numbers {
        let place = distinct.partition_point(|one| *one < number);
        out.extend_from_slice(&place.to_le_bytes()[..place_width]);
    }
}

fn number(raw: &[u8]) -> u64 {
    raw.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

/// Decode the column of `count` numbers at the beginning of `raw`, and append `wide` bytes of each to `out`.
///
/// Return the bytes after the column, or `None` if there is no such column, or if a number is too large.
pub fn decode<'a>(raw: &'a [u8], count: usize, wide: usize, out: &mut Vec<u8>) -> Option<&'a [u8]> {
    let (&form, rest) = raw.split_first()?;
    let mut put = |number: u64| {
        out.extend_from_slice(&number.to_le_bytes()[..wide]);
        width_of(number) <= wide
    };
    if usize::from(form) <= WIDTH_MAX {
        let width = usize::from(form);
        let (column, after) = rest.split_at_checked(width.checked_mul(count)?)?;
        let fits = if width == 0 {
            (0..count).all(|_| put(0))
        } else {
            column.chunks_exact(width).all(|raw| put(number(raw)))
        };
        return fits.then_some(after);
    }
    let width = usize::from(form.checked_sub(LISTED)?);
    if width > PLACE_BYTES_MAX {
        return None;
    }
    let (size, rest) = rest.split_at_checked(COUNT_BYTES)?;
    let (listed, rest) = rest.split_at_checked((number(size) as usize).checked_mul(WIDTH_MAX)?)?;
    let (places, after) = rest.split_at_checked(width.checked_mul(count)?)?;
    let listed: Vec<u64> = listed.chunks_exact(WIDTH_MAX).map(number).collect();
    let fits = if width == 0 {
        let first = *listed.first()?;
        (0..count).all(|_| put(first))
    } else {
        places.chunks_exact(width).all(|raw| listed.get(number(raw) as usize).is_some_and(|&one| put(one)))
    };
    (fits && !listed.is_empty()).then_some(after)
}
