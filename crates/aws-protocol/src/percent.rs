//! Percent-encoding, strict on the way in and as Signature Version 4 wants it on the way out.

/// Decodes `%41`; with `plus_is_space`, as forms have it, `+` is a space. Nothing if an escape is broken or the text is not UTF-8.
pub fn decode(encoded: &[u8], plus_is_space: bool) -> Option<String> {
    let mut bytes = Vec::with_capacity(encoded.len());
    let mut rest = encoded.iter();
    while let Some(byte) = rest.next() {
        match byte {
            b'%' => {
                let high = char::from(*rest.next()?).to_digit(16)?;
                let low = char::from(*rest.next()?).to_digit(16)?;
                bytes.push(u8::try_from(high * 16 + low).ok()?);
            }
            b'+' if plus_is_space => bytes.push(b' '),
            other => bytes.push(*other),
        }
    }
    String::from_utf8(bytes).ok()
}

/// Encodes all but letters, digits and `-._~`; a slash stays if `keeps_slash`.
pub fn encode(text: &[u8], keeps_slash: bool) -> String {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    let mut encoded = String::with_capacity(text.len());
    for byte in text {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                encoded.push(char::from(*byte));
            }
            b'/' if keeps_slash => encoded.push('/'),
            other => {
                encoded.push('%');
                encoded.push(char::from(DIGITS[usize::from(other >> 4)]));
                encoded.push(char::from(DIGITS[usize::from(other & 15)]));
            }
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::{decode, encode};

    #[test]
    fn broken_escapes_and_broken_text_are_refused() {
        for broken in ["%", "%4", "%4g", "%+1", "%ff"] {
            assert_eq!(decode(broken.as_bytes(), true), None, "{broken}");
        }
        assert_eq!(decode(b"a+b%2B%c3%A4", true).as_deref(), Some("a b+ä"));
        assert_eq!(decode(b"a+b", false).as_deref(), Some("a+b"));
    }

    #[test]
    fn what_is_encoded_comes_back() {
        let text = "a b/c~ä%+=&";
        let encoded = encode(text.as_bytes(), false);
        assert_eq!(encoded, "a%20b%2Fc~%C3%A4%25%2B%3D%26");
        assert_eq!(decode(encoded.as_bytes(), false).as_deref(), Some(text));
        assert_eq!(encode(b"/a", true), "/a");
    }
}
