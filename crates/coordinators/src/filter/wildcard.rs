//! A text in which a star stands for any characters, or none.

/// The parts between the stars; `\*` is a star and `\\` a backslash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wildcard {
    parts: Vec<Box<str>>,
}

impl Wildcard {
    /// Nothing where a backslash stands before another character.
    pub(super) fn of(pattern: &str) -> Option<Self> {
        let mut parts = Vec::new();
        let mut part = String::new();
        let mut characters = pattern.chars();
        while let Some(character) = characters.next() {
            match character {
                '*' => parts.push(std::mem::take(&mut part).into()),
                '\\' => part.push(characters.next().filter(|c| matches!(c, '*' | '\\'))?),
                _ => part.push(character),
            }
        }
        parts.push(part.into());
        Some(Self { parts })
    }

    pub(super) fn stars(&self) -> usize {
        self.parts.len() - 1
    }

    /// In time that grows with the text: the first place that a part fits is as good as any later one.
    pub(super) fn matches(&self, text: &str) -> bool {
        let [first, rest @ ..] = self.parts.as_slice() else {
            return false;
        };
        let Some((last, middle)) = rest.split_last() else {
            return text == &**first;
        };
        let Some(mut text) = text.strip_prefix(&**first) else {
            return false;
        };
        for part in middle {
            let Some(at) = text.find(&**part) else {
                return false;
            };
            text = &text[at + part.len()..];
        }
        text.ends_with(&**last)
    }
}
