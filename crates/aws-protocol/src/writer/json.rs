//! Fields as members of a JSON object.

use std::collections::BTreeMap;

use super::{ListNames, MapNames, Writer};

/// Writes the members of one object; the braces of the outermost are `open` and `finish`.
#[derive(Debug, Default)]
pub(crate) struct JsonWriter {
    bytes: Vec<u8>,
}

impl JsonWriter {
    /// An object without members yet.
    pub(crate) fn open() -> JsonWriter {
        JsonWriter {
            bytes: b"{".to_vec(),
        }
    }

    /// Closes the object.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        self.bytes.push(b'}');
        self.bytes
    }

    fn separate(&mut self) {
        if !matches!(self.bytes.last(), None | Some(b'{' | b'[')) {
            self.bytes.push(b',');
        }
    }

    fn name(&mut self, name: &str) {
        self.separate();
        self.quoted(name);
        self.bytes.push(b':');
    }

    fn quoted(&mut self, text: &str) {
        serde_json::to_writer(&mut self.bytes, text)
            .expect("a text is always JSON, and a vector takes every byte");
    }

    fn object(&mut self, write: &mut dyn FnMut(&mut dyn Writer)) {
        self.bytes.push(b'{');
        write(self);
        self.bytes.push(b'}');
    }
}

impl Writer for JsonWriter {
    fn text(&mut self, name: &str, value: &str) {
        self.name(name);
        self.quoted(value);
    }

    fn integer(&mut self, name: &str, value: i64) {
        self.name(name);
        self.bytes.extend_from_slice(value.to_string().as_bytes());
    }

    fn boolean(&mut self, name: &str, value: bool) {
        self.name(name);
        let word: &[u8] = if value { b"true" } else { b"false" };
        self.bytes.extend_from_slice(word);
    }

    fn texts(&mut self, names: ListNames, values: &[String]) {
        self.name(names.json);
        self.bytes.push(b'[');
        for value in values {
            self.separate();
            self.quoted(value);
        }
        self.bytes.push(b']');
    }

    fn text_map(&mut self, names: MapNames, values: &BTreeMap<String, String>) {
        self.structure(names.list.json, &mut |out| {
            for (key, value) in values {
                out.text(key, value);
            }
        });
    }

    fn structure(&mut self, name: &str, write: &mut dyn FnMut(&mut dyn Writer)) {
        self.name(name);
        self.object(write);
    }

    fn structures(
        &mut self,
        names: ListNames,
        count: usize,
        write: &mut dyn FnMut(usize, &mut dyn Writer),
    ) {
        self.name(names.json);
        self.bytes.push(b'[');
        for index in 0..count {
            self.separate();
            self.object(&mut |out| write(index, out));
        }
        self.bytes.push(b']');
    }

    fn structure_map(
        &mut self,
        names: MapNames,
        keys: &[&str],
        write: &mut dyn FnMut(usize, &mut dyn Writer),
    ) {
        self.structure(names.list.json, &mut |out| {
            for (index, key) in keys.iter().enumerate() {
                out.structure(key, &mut |out| write(index, out));
            }
        });
    }
}
