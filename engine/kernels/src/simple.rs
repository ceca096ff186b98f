//! Texts whose characters need no tables of Unicode: ASCII, the letters of the Latin, Greek and Cyrillic
//! scripts that are one code point each, typographic marks, and most emoji.

use std::borrow::Cow;

/// What the analyzer does with a character, before it scans for words.
enum Class {
    /// A letter or number that is a word by itself and is in NFC. No such character changes its neighbours.
    Letter,
    /// A character that is in no word.
    Separator,
    Ignored,
    /// A character that ASCII has, too.
    Lookalike(u8),
    /// A character that is a word by itself, next to whatever characters.
    Picture,
}

/// The byte before a picture in a simplified text. Only there, a character above ASCII follows it.
pub const PICTURE: u8 = 1;

/// Return the class of a character that is not ASCII, or `None` if the twin must decide.
fn class(character: char) -> Option<Class> {
    Some(match u32::from(character) {
        0xAA | 0xB2 | 0xB3 | 0xB5 | 0xB9 | 0xBA | 0xBC..=0xBE => Class::Letter,
        0xAD | 0x200C..=0x200F | 0x202A..=0x202E | 0x2060..=0x2064 | 0xFE0F | 0xFEFF => Class::Ignored,
        0x80..=0xBF | 0xD7 | 0xF7 => Class::Separator,
        0xC0..=0x2C1 => Class::Letter,
        0x386 | 0x388..=0x38A | 0x38C | 0x38E..=0x3A1 | 0x3A3..=0x3F5 => Class::Letter,
        0x3F7..=0x481 | 0x48A..=0x52F | 0x1E00..=0x1EFF => Class::Letter,
        0x2010 | 0x2011 => Class::Lookalike(b'-'),
        0x2019 => Class::Lookalike(b'\''),
        0x2000..=0x205F | 0x20A0..=0x20C0 | 0x2190..=0x22FF | 0x2500..=0x25FF => Class::Separator,
        0x266F | 0x2768..=0x2775 | 0x1F3FB..=0x1F3FF => Class::Separator,
        0x2600..=0x2767 | 0x2794..=0x27BF | 0x1F300..=0x1F64F | 0x1F680..=0x1F6C5 => Class::Picture,
        0x1F900..=0x1F9FF => Class::Picture,
        _ => return None,
    })
}

/// Return the text as the analyzer scans it, in which all characters above ASCII are letters or pictures, each
/// picture after a byte PICTURE; `None` if the twin must analyse the text.
pub fn simplified(text: &str) -> Option<Cow<'_, [u8]>> {
    if text.is_ascii() {
        return Some(Cow::Borrowed(text.as_bytes()));
    }
    if text.len() > crate::limits::TEXT_BYTES_MAX {
        return None;
    }
    let mut simple = Vec::with_capacity(text.len());
    for character in text.chars() {
        if character.is_ascii() {
            simple.push(if character == char::from(PICTURE) { b' ' } else { character as u8 });
            continue;
        }
        let mut raw = [0; 4];
        let raw = character.encode_utf8(&mut raw).as_bytes();
        match class(character)? {
            Class::Letter => simple.extend_from_slice(raw),
            Class::Picture => {
                simple.push(PICTURE);
                simple.extend_from_slice(raw);
                simple.push(b' ');
            }
            Class::Separator => simple.push(b' '),
            Class::Ignored => {}
            Class::Lookalike(byte) => simple.push(byte),
        }
    }
    Some(Cow::Owned(simple))
}

/// Return whether `simplified` gives a result.
pub fn is_simple(text: &str) -> bool {
    text.is_ascii()
        || (text.len() <= crate::limits::TEXT_BYTES_MAX
            && text.chars().all(|character| character.is_ascii() || class(character).is_some()))
}
