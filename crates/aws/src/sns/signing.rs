//! The key by which messages are signed, and its certificate, which endpoints fetch.
//!
//! Why it exists: an endpoint on the open network must tell our messages from anybody's; AWS signs them by RSA, over SHA-1 (version 1) or
//! SHA-256 (version 2), and the libraries that check it know nothing else.
//! Owns: `sns-signing.pem` in the data directory: drawn once, kept for good, readable by the broker's user alone.
//! Never: which fields are signed (`canonical.rs`).
//! In -> out: a text -> its signature in base64.
//!
//! ```text
//! sns-signing.pem
//!   -----BEGIN PRIVATE KEY-----   PKCS #8
//!   -----BEGIN CERTIFICATE-----   self-signed
//! ```

use super::certificate;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use fanlog_environment::{Entropy, Environment, read_bounded, write_privately};
use rand_core::{TryCryptoRng, TryRng};
use rsa::PrivateKey;
use rsa::pkcs1v15::SigningKey;
use rsa::pkcs8::{DecodePrivateKey, EncodePrivateKey, LineEnding};
use rsa::signature::{RandomizedSigner, SignatureEncoding};
use sha1::Sha1;
use sha2::{Digest, Sha256};
use std::convert::Infallible;
use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;
use thiserror::Error;

/// Where the key lies in the data directory.
const FILE: &str = "sns-signing.pem";
/// The longest file that is read.
const FILE_BYTES_MAX: usize = 64 * 1024;
/// AWS signs with keys of this size.
const KEY_BITS: usize = 2048;
const CERTIFICATE_BEGIN: &str = "-----BEGIN CERTIFICATE-----";

/// Why there is no key to sign with.
#[derive(Debug, Error)]
pub(crate) enum SigningError {
    /// The disk failed.
    #[error("{FILE} in the data directory cannot be used: {0}")]
    Io(#[from] io::Error),
    /// The file does not hold what it should.
    #[error(
        "{FILE} in the data directory is unreadable: {reason}; restore it, or remove it for a new key to be drawn"
    )]
    Unreadable {
        /// What is wrong.
        reason: String,
    },
    /// No key could be drawn, or nothing signed.
    #[error("messages cannot be signed: {0}")]
    Crypto(String),
}

/// Over which digest a topic's messages are signed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum SignatureVersion {
    /// SHA-1: what AWS does unless the topic says otherwise.
    #[default]
    One,
    /// SHA-256.
    Two,
}

impl SignatureVersion {
    /// As the topic's attribute has it.
    pub(crate) fn of(text: &str) -> Option<Self> {
        match text {
            "1" => Some(Self::One),
            "2" => Some(Self::Two),
            _ => None,
        }
    }

    /// As the topic's attribute has it.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::One => "1",
            Self::Two => "2",
        }
    }
}

/// The key and its certificate.
pub(crate) struct Signer {
    one: SigningKey<Sha1>,
    two: SigningKey<Sha256>,
    entropy: Arc<dyn Entropy>,
    certificate: String,
    file: String,
}

impl fmt::Debug for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Signer({})", self.file)
    }
}

impl Signer {
    /// The key that is kept, or a new one; this takes a moment, and waits for the disk.
    ///
    /// # Errors
    /// The disk failed, or what it holds is no key.
    pub(crate) fn open(environment: &Environment) -> Result<Self, SigningError> {
        let path = Path::new(FILE);
        let text = match read_bounded(&*environment.disk, path, FILE_BYTES_MAX) {
            Ok(bytes) => String::from_utf8(bytes).map_err(|_| unreadable("it is no text"))?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let text = draw(environment)?;
                write_privately(&*environment.disk, path, text.as_bytes())?;
                text
            }
            Err(error) => return Err(error.into()),
        };
        Self::read(&text, environment.entropy.clone())
    }

    fn read(text: &str, entropy: Arc<dyn Entropy>) -> Result<Self, SigningError> {
        let at = text.find(CERTIFICATE_BEGIN);
        let (key, certificate) = text.split_at(at.ok_or_else(|| unreadable("no certificate"))?);
        let key = PrivateKey::from_pkcs8_pem(key.trim());
        let key = key.map_err(|error| unreadable(&error.to_string()))?;
        let digest = Sha256::digest(certificate.as_bytes());
        let id: String = digest[..16]
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        Ok(Self {
            one: SigningKey::new(key.clone()),
            two: SigningKey::new(key),
            entropy,
            certificate: certificate.to_owned(),
            file: format!("SimpleNotificationService-{id}.pem"),
        })
    }

    /// The certificate, as endpoints fetch it.
    pub(crate) fn certificate(&self) -> &str {
        &self.certificate
    }

    /// The name of the certificate's file, below the root of the HTTP port.
    pub(crate) fn file(&self) -> &str {
        &self.file
    }

    /// The signature of a text, in base64. It costs the processor about a millisecond.
    ///
    /// # Errors
    /// The key is broken.
    pub(crate) fn sign(
        &self,
        version: SignatureVersion,
        text: &str,
    ) -> Result<String, SigningError> {
        let mut chance = Chance(&*self.entropy);
        let signature = match version {
            SignatureVersion::One => self.one.try_sign_with_rng(&mut chance, text.as_bytes()),
            SignatureVersion::Two => self.two.try_sign_with_rng(&mut chance, text.as_bytes()),
        };
        let signature = signature.map_err(|error| SigningError::Crypto(error.to_string()))?;
        Ok(STANDARD.encode(signature.to_bytes()))
    }
}

fn draw(environment: &Environment) -> Result<String, SigningError> {
    let broken = |reason: String| SigningError::Crypto(reason);
    let mut chance = Chance(&*environment.entropy);
    let key = PrivateKey::new(&mut chance, KEY_BITS).map_err(|error| broken(error.to_string()))?;
    let pem = key.to_pkcs8_pem(LineEnding::LF);
    let pem = pem.map_err(|error| broken(error.to_string()))?;
    let signer = SigningKey::<Sha256>::new(key);
    let now = environment.clock.wall_ms();
    let certificate = certificate::self_signed(&signer, &mut chance, now);
    let certificate = certificate.map_err(|error| broken(error.to_string()))?;
    Ok(format!("{}\n{certificate}", pem.trim_end()))
}

fn unreadable(reason: &str) -> SigningError {
    SigningError::Unreadable {
        reason: reason.to_owned(),
    }
}

/// The environment's chance, as the crates for RSA want it.
pub(super) struct Chance<'a>(&'a dyn Entropy);

impl TryRng for Chance<'_> {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        let mut bytes = [0; 4];
        self.0.fill(&mut bytes);
        Ok(u32::from_le_bytes(bytes))
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.0.u64())
    }

    fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), Infallible> {
        self.0.fill(out);
        Ok(())
    }
}

impl TryCryptoRng for Chance<'_> {}

#[cfg(test)]
#[path = "signing_tests.rs"]
mod tests;
