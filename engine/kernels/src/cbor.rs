//! Canonical CBOR (RFC 8949, section 4.2.1): shortest forms only.

const UINT: u8 = 0;
const NEGATIVE: u8 = 1;
const BYTES: u8 = 2;
const TEXT: u8 = 3;
const ARRAY: u8 = 4;
const MAP: u8 = 5;

/// Append the head of an item of a major type.
fn head(out: &mut Vec<u8>, major: u8, number: u64) {
    let major = major << 5;
    if number < 24 {
        out.push(major | number as u8);
    } else if number <= 0xFF {
        out.extend_from_slice(&[major | 24, number as u8]);
    } else if number <= 0xFFFF {
        out.push(major | 25);
        out.extend_from_slice(&(number as u16).to_be_bytes());
    } else if number <= 0xFFFF_FFFF {
        out.push(major | 26);
        out.extend_from_slice(&(number as u32).to_be_bytes());
    } else {
        out.push(major | 27);
        out.extend_from_slice(&number.to_be_bytes());
    }
}

/// Append an unsigned integer.
pub fn uint(out: &mut Vec<u8>, number: u64) {
    head(out, UINT, number);
}

/// Append a byte string.
pub fn bytes(out: &mut Vec<u8>, value: &[u8]) {
    head(out, BYTES, value.len() as u64);
    out.extend_from_slice(value);
}

/// Append the head of an array of `length` items, which follow.
pub fn array(out: &mut Vec<u8>, length: u64) {
    head(out, ARRAY, length);
}

/// Append an integer of any sign.
pub fn int(out: &mut Vec<u8>, number: i64) {
    if number < 0 {
        head(out, NEGATIVE, !number as u64);
    } else {
        head(out, UINT, number as u64);
    }
}

/// Append a text.
pub fn text(out: &mut Vec<u8>, value: &str) {
    head(out, TEXT, value.len() as u64);
    out.extend_from_slice(value.as_bytes());
}

/// Append the head of a map of `length` entries, which follow.
pub fn map(out: &mut Vec<u8>, length: u64) {
    head(out, MAP, length);
}

/// Append null.
pub fn null(out: &mut Vec<u8>) {
    out.push(0xF6);
}

/// Append true or false.
pub fn boolean(out: &mut Vec<u8>, value: bool) {
    out.push(if value { 0xF5 } else { 0xF4 });
}
