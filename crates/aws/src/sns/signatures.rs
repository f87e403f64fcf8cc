//! Signatures of messages, made once for all subscribers.
//!
//! Why it exists: a signature costs the processor more than all else of a message; three subscribers of a topic, and whoever receives a
//! message again, get the same.
//! Owns: the signer, opened when it is first needed; the latest signatures.

use super::signing::{SignatureVersion, Signer, SigningError};
use fanlog_environment::Environment;
use parking_lot::Mutex;
use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::Arc;
use tokio::sync::OnceCell;

/// How many signatures are kept: some three megabytes.
const KEPT_MAX: usize = 8_192;

/// Which message was signed how, and what its text was: a topic made anew has other messages of the same ids, never the same text.
type Key = (SignatureVersion, [u8; 32]);

#[derive(Default)]
struct Kept {
    of: HashMap<Key, Arc<str>>,
    by_age: VecDeque<Key>,
}

/// Makes and keeps signatures.
pub(super) struct Signatures {
    environment: Environment,
    signer: OnceCell<Arc<Signer>>,
    kept: Mutex<Kept>,
}

impl fmt::Debug for Signatures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Signatures({:?})", self.signer.get())
    }
}

impl Signatures {
    pub(super) fn new(environment: Environment) -> Self {
        Self {
            environment,
            signer: OnceCell::new(),
            kept: Mutex::default(),
        }
    }

    /// The signer; drawn if there was none.
    pub(super) async fn signer(&self) -> Result<&Arc<Signer>, SigningError> {
        let open = || async {
            let environment = self.environment.clone();
            let opened = tokio::task::spawn_blocking(move || Signer::open(&environment)).await;
            match opened {
                Ok(opened) => opened.map(Arc::new),
                Err(panicked) => std::panic::resume_unwind(panicked.into_panic()),
            }
        };
        self.signer.get_or_try_init(open).await
    }

    /// The certificate in a file of that name, if that is its name.
    pub(super) async fn certificate(&self, file: &str) -> Option<String> {
        let signer = self.signer().await;
        let signer = signer
            .inspect_err(|error| tracing::error!(%error, "messages of SNS cannot be signed"))
            .ok()?;
        (signer.file() == file).then(|| signer.certificate().to_owned())
    }

    /// The signature of a text.
    pub(super) async fn sign(
        &self,
        version: SignatureVersion,
        text: String,
    ) -> Result<Arc<str>, SigningError> {
        let key = (version, digest(&text));
        if let Some(known) = self.kept.lock().of.get(&key) {
            return Ok(known.clone());
        }
        let signer = self.signer().await?.clone();
        let signing = tokio::task::spawn_blocking(move || signer.sign(version, &text));
        let signature: Arc<str> = match signing.await {
            Ok(signature) => signature?.into(),
            Err(panicked) => std::panic::resume_unwind(panicked.into_panic()),
        };
        self.kept.lock().keep(key, signature.clone());
        Ok(signature)
    }
}

impl Kept {
    fn keep(&mut self, key: Key, signature: Arc<str>) {
        if self.of.insert(key, signature).is_none() {
            self.by_age.push_back(key);
        }
        while self.by_age.len() > KEPT_MAX
            && let Some(oldest) = self.by_age.pop_front()
        {
            self.of.remove(&oldest);
        }
    }
}

fn digest(text: &str) -> [u8; 32] {
    use sha2::Digest;
    sha2::Sha256::digest(text.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_signatures_are_forgotten() {
        let mut kept = Kept::default();
        let key = |number: usize| (SignatureVersion::One, digest(&number.to_string()));
        for number in 0..KEPT_MAX + 10 {
            kept.keep(key(number), "s".into());
            kept.keep(key(number), "s".into());
        }
        assert_eq!((kept.of.len(), kept.by_age.len()), (KEPT_MAX, KEPT_MAX));
        assert!(!kept.of.contains_key(&key(9)) && kept.of.contains_key(&key(10)));
    }
}
