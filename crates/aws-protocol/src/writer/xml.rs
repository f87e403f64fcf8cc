//! Fields as elements of XML 1.0.
//!
//! A character that XML 1.0 can't hold at all, not even as a reference, becomes U+FFFD; JSON carries every one. A carriage
//! return is written as a reference, as a reader of XML would make a line feed of it.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::{ListNames, MapNames, Writer};

/// Writes elements one after the other.
#[derive(Debug, Default)]
pub(crate) struct XmlWriter {
    text: String,
}

impl XmlWriter {
    /// A document without elements yet.
    pub(crate) fn open() -> XmlWriter {
        XmlWriter {
            text: "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_owned(),
        }
    }

    /// The document's bytes.
    pub(crate) fn finish(self) -> Vec<u8> {
        self.text.into_bytes()
    }

    /// An element with what is in it; `head` may have attributes behind the name.
    pub(crate) fn element(&mut self, head: &str, write: &mut dyn FnMut(&mut XmlWriter)) {
        let name = head.split(' ').next().unwrap_or(head);
        self.text.push('<');
        self.text.push_str(head);
        self.text.push('>');
        write(self);
        self.text.push_str("</");
        self.text.push_str(name);
        self.text.push('>');
    }

    fn list(&mut self, names: ListNames, write: &mut dyn FnMut(&mut XmlWriter)) {
        match names.around {
            Some(around) => self.element(around, write),
            None => write(self),
        }
    }
}

impl Writer for XmlWriter {
    fn text(&mut self, name: &str, value: &str) {
        self.element(name, &mut |out| out.text.push_str(&escaped(value)));
    }

    fn integer(&mut self, name: &str, value: i64) {
        self.text(name, &value.to_string());
    }

    fn boolean(&mut self, name: &str, value: bool) {
        self.text(name, if value { "true" } else { "false" });
    }

    fn texts(&mut self, names: ListNames, values: &[String]) {
        self.list(names, &mut |out| {
            for value in values {
                out.text(names.element, value);
            }
        });
    }

    fn text_map(&mut self, names: MapNames, values: &BTreeMap<String, String>) {
        self.list(names.list, &mut |out| {
            for (key, value) in values {
                out.element(names.list.element, &mut |out| {
                    out.text(names.key, key);
                    out.text(names.value, value);
                });
            }
        });
    }

    fn structure(&mut self, name: &str, write: &mut dyn FnMut(&mut dyn Writer)) {
        self.element(name, &mut |out| write(out));
    }

    fn structures(
        &mut self,
        names: ListNames,
        count: usize,
        write: &mut dyn FnMut(usize, &mut dyn Writer),
    ) {
        self.list(names, &mut |out| {
            for index in 0..count {
                out.element(names.element, &mut |out| write(index, out));
            }
        });
    }

    fn structure_map(
        &mut self,
        names: MapNames,
        keys: &[&str],
        write: &mut dyn FnMut(usize, &mut dyn Writer),
    ) {
        self.list(names.list, &mut |out| {
            for (index, key) in keys.iter().enumerate() {
                out.element(names.list.element, &mut |out| {
                    out.text(names.key, key);
                    out.element(names.value, &mut |out| write(index, out));
                });
            }
        });
    }
}

/// True if XML 1.0 can hold the character.
fn is_allowed(character: char) -> bool {
    matches!(character, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..)
}

/// Text as it may stand in an element or an attribute.
fn escaped(text: &str) -> Cow<'_, str> {
    let is_plain = |character: char| {
        !matches!(character, '<' | '>' | '&' | '"' | '\'' | '\r') && is_allowed(character)
    };
    if text.chars().all(is_plain) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + text.len() / 8);
    for character in text.chars() {
        match character {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&apos;"),
            '\r' => escaped.push_str("&#xD;"),
            other if is_allowed(other) => escaped.push(other),
            _ => escaped.push('\u{fffd}'),
        }
    }
    Cow::Owned(escaped)
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn text_is_escaped_and_what_xml_cannot_hold_is_replaced() {
        assert_eq!(escaped("plain ä \n"), "plain ä \n");
        assert_eq!(
            escaped("< & > \" ' \r"),
            "&lt; &amp; &gt; &quot; &apos; &#xD;"
        );
        assert_eq!(
            escaped("a\0b\u{b}c\u{ffff}d\u{1f980}"),
            "a\u{fffd}b\u{fffd}c\u{fffd}d\u{1f980}"
        );
    }
}
