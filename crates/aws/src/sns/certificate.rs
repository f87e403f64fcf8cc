//! The certificate of the signing key: self-signed, and good for thirty years.
//!
//! Why it exists: endpoints take the public key out of a certificate, whose address stands in every message.

use super::signing::Chance;
use fanlog_model::TimestampMs;
use rsa::pkcs1v15::{Signature, SigningKey};
use rsa::signature::Keypair;
use sha2::Sha256;
use std::str::FromStr;
use std::time::Duration;
use x509_cert::builder::profile::BuilderProfile;
use x509_cert::builder::{Builder, CertificateBuilder, Error};
use x509_cert::certificate::TbsCertificate;
use x509_cert::der::EncodePem;
use x509_cert::der::asn1::GeneralizedTime;
use x509_cert::der::pem::LineEnding;
use x509_cert::ext::Extension;
use x509_cert::name::Name;
use x509_cert::serial_number::SerialNumber;
use x509_cert::spki::{SubjectPublicKeyInfo, SubjectPublicKeyInfoRef};
use x509_cert::time::{Time, Validity};

/// Whose it is.
const SUBJECT: &str = "CN=sns.fanlog,O=Fanlog";
/// How long before it was made it is good: clocks differ.
const BEFORE: Duration = Duration::from_secs(86_400);
const AFTER: Duration = Duration::from_secs(30 * 365 * 86_400);

/// A certificate of the key, in PEM.
pub(super) fn self_signed(
    key: &SigningKey<Sha256>,
    chance: &mut Chance<'_>,
    now: TimestampMs,
) -> Result<String, Error> {
    let now = Duration::from_millis(u64::try_from(now.0).unwrap_or(0));
    let at = |since: Duration| -> Result<Time, Error> {
        Ok(Time::GeneralTime(GeneralizedTime::from_unix_duration(
            since,
        )?))
    };
    let validity = Validity::new(at(now.saturating_sub(BEFORE))?, at(now + AFTER)?);
    let public = SubjectPublicKeyInfo::from_key(&key.verifying_key())?;
    let serial = SerialNumber::generate(chance);
    let builder = CertificateBuilder::new(OwnSubject, serial, validity, public)?;
    let certificate = builder.build_with_rng::<_, Signature, _>(key, chance)?;
    Ok(certificate.to_pem(LineEnding::LF)?)
}

/// A certificate that vouches for nothing but itself.
struct OwnSubject;

impl BuilderProfile for OwnSubject {
    fn get_issuer(&self, subject: &Name) -> Name {
        subject.clone()
    }

    fn get_subject(&self) -> Name {
        Name::from_str(SUBJECT).expect("a constant that is a name")
    }

    fn build_extensions(
        &self,
        _: SubjectPublicKeyInfoRef<'_>,
        _: SubjectPublicKeyInfoRef<'_>,
        _: &TbsCertificate,
    ) -> Result<Vec<Extension>, Error> {
        Ok(Vec::new())
    }
}
