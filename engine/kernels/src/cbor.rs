//! Canonical CBOR (RFC 8949, section 4.2.1): shortest forms only.

const UINT: u8 = 0;
const NEGATIVE: u8 = 1;
const BYTES: u8 = 2;
const TEXT: u8 = 3;
const ARRAY: u8 = 4;
const MAP: u8 = 5;
const NULL: u8 = 0xF6;

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
    out.push(NULL);
}

/// Append true or false.
pub fn boolean(out: &mut Vec<u8>, value: bool) {
    out.push(if value { 0xF5 } else { 0xF4 });
}

/// A reader of one item after another. Every method returns None for a form that is not canonical.
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub fn new(raw: &'a [u8]) -> Self {
        Reader { rest: raw }
    }

    /// Return whether all bytes were read.
    pub fn at_end(&self) -> bool {
        self.rest.is_empty()
    }

    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        Some(taken)
    }

    /// Read the head of an item: its major type and its number.
    pub fn head(&mut self) -> Option<(u8, u64)> {
        let first = self.take(1)?[0];
        let (major, short) = (first >> 5, first & 31);
        if short < 24 {
            return Some((major, u64::from(short)));
        }
        if short > 27 {
            return None;
        }
        let width = 1 << (short - 24);
        let number = self.take(width)?.iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
        let least = if width == 1 { 24 } else { 1 << (8 * width / 2) };
        (number >= least).then_some((major, number))
    }

    /// Read null, if it comes next.
    pub fn null(&mut self) -> bool {
        let is_null = self.rest.first() == Some(&NULL);
        if is_null {
            self.rest = &self.rest[1..];
        }
        is_null
    }

    /// Return whether an unsigned integer comes next.
    pub fn is_uint(&self) -> bool {
        self.rest.first().is_some_and(|first| first >> 5 == UINT)
    }

    /// Read an unsigned integer of at most `most`.
    pub fn uint(&mut self, most: u64) -> Option<u64> {
        let (major, number) = self.head()?;
        (major == UINT && number <= most).then_some(number)
    }

    /// Read an integer from `least` to `most`.
    pub fn int(&mut self, least: i64, most: i64) -> Option<i64> {
        let (major, number) = self.head()?;
        let number = i64::try_from(number).ok()?;
        let number = match major {
            UINT => number,
            NEGATIVE => -1 - number,
            _ => return None,
        };
        (least <= number && number <= most).then_some(number)
    }

    /// Read a byte string of at most `most` bytes.
    pub fn bytes(&mut self, most: usize) -> Option<&'a [u8]> {
        self.string(BYTES, most)
    }

    /// Read a text of at most `most` bytes.
    pub fn text(&mut self, most: usize) -> Option<&'a str> {
        std::str::from_utf8(self.string(TEXT, most)?).ok()
    }

    fn string(&mut self, expected: u8, most: usize) -> Option<&'a [u8]> {
        let (major, length) = self.head()?;
        let length = usize::try_from(length).ok()?;
        if major != expected || length > most {
            return None;
        }
        self.take(length)
    }

    /// Read the head of an array of at most `most` items.
    pub fn array(&mut self, most: usize) -> Option<usize> {
        let (major, length) = self.head()?;
        let length = usize::try_from(length).ok()?;
        (major == ARRAY && length <= most).then_some(length)
    }

    /// Read the head of a map.
    pub fn map(&mut self) -> Option<u64> {
        let (major, length) = self.head()?;
        (major == MAP).then_some(length)
    }
}
