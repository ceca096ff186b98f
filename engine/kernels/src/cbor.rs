//! Canonical CBOR (RFC 8949, section 4.2.1), as far as events and records need it.

/// Append the head of an item: its major type and its argument in the shortest form.
fn head(out: &mut Vec<u8>, major: u8, argument: u64) {
    let major = major << 5;
    match argument {
        0..=23 => out.push(major | argument as u8),
        24..=0xFF => out.extend_from_slice(&[major | 24, argument as u8]),
        0x100..=0xFFFF => {
            out.push(major | 25);
            out.extend_from_slice(&(argument as u16).to_be_bytes());
        }
        0x1_0000..=0xFFFF_FFFF => {
            out.push(major | 26);
            out.extend_from_slice(&(argument as u32).to_be_bytes());
        }
        _ => {
            out.push(major | 27);
            out.extend_from_slice(&argument.to_be_bytes());
        }
    }
}

pub fn uint(out: &mut Vec<u8>, value: u64) {
    head(out, 0, value);
}

pub fn int(out: &mut Vec<u8>, value: i64) {
    if value < 0 {
        head(out, 1, !value as u64);
    } else {
        head(out, 0, value as u64);
    }
}

pub fn bytes(out: &mut Vec<u8>, value: &[u8]) {
    head(out, 2, value.len() as u64);
    out.extend_from_slice(value);
}

pub fn text(out: &mut Vec<u8>, value: &str) {
    head(out, 3, value.len() as u64);
    out.extend_from_slice(value.as_bytes());
}

pub fn array(out: &mut Vec<u8>, items: usize) {
    head(out, 4, items as u64);
}

pub fn map(out: &mut Vec<u8>, entries: usize) {
    head(out, 5, entries as u64);
}

pub fn null(out: &mut Vec<u8>) {
    out.push(0xF6);
}

pub fn boolean(out: &mut Vec<u8>, value: bool) {
    out.push(if value { 0xF5 } else { 0xF4 });
}
