use super::*;
use fanlog_environment::SimulatedEnvironment;
use rsa::pkcs1v15::{Signature, VerifyingKey};
use rsa::pkcs8::DecodePublicKey;
use rsa::signature::Verifier;
use x509_cert::der::{DecodePem, Encode};

fn check_signature(signer: &Signer, version: SignatureVersion) {
    let text = "Message\nhello\n";
    let signature = STANDARD
        .decode(signer.sign(version, text).unwrap())
        .unwrap();
    let signature = Signature::try_from(signature.as_slice()).unwrap();
    let certificate = x509_cert::Certificate::from_pem(signer.certificate()).unwrap();
    let public = certificate.tbs_certificate().subject_public_key_info();
    let public = rsa::PublicKey::from_public_key_der(&public.to_der().unwrap()).unwrap();
    let verify = |text: &str| match version {
        SignatureVersion::One => {
            VerifyingKey::<Sha1>::new(public.clone()).verify(text.as_bytes(), &signature)
        }
        SignatureVersion::Two => {
            VerifyingKey::<Sha256>::new(public.clone()).verify(text.as_bytes(), &signature)
        }
    };
    assert!(verify(text).is_ok(), "{version:?}");
    assert!(verify("Message\nhallo\n").is_err(), "{version:?}");
}

#[test]
fn the_certificate_checks_what_the_key_has_signed() {
    let simulated = SimulatedEnvironment::new(1);
    let signer = Signer::open(&simulated.environment()).unwrap();
    check_signature(&signer, SignatureVersion::One);
    check_signature(&signer, SignatureVersion::Two);
}

#[test]
fn the_key_is_drawn_once_and_survives_a_crash() {
    let simulated = SimulatedEnvironment::new(2);
    let environment = simulated.environment();
    let first = Signer::open(&environment).unwrap();
    simulated.disk.crash(7);
    let again = Signer::open(&environment).unwrap();
    assert_eq!(first.certificate(), again.certificate());
    assert_eq!(first.file(), again.file());
    check_signature(&again, SignatureVersion::Two);
}

#[test]
fn a_file_that_is_no_key_is_refused_with_the_way_out() {
    let simulated = SimulatedEnvironment::new(3);
    let environment = simulated.environment();
    let check = |text: &str| {
        write_privately(&*environment.disk, Path::new(FILE), text.as_bytes()).unwrap();
        let error = Signer::open(&environment).unwrap_err().to_string();
        assert!(error.contains("remove it for a new key"), "{error}");
    };
    check("");
    check(
        "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n-----BEGIN CERTIFICATE-----\n",
    );
}

#[test]
fn nobody_else_may_read_the_key() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::TempDir::new().unwrap();
    let disk = fanlog_environment::RealDisk::open(folder.path()).unwrap();
    write_privately(&disk, Path::new(FILE), b"secret").unwrap();
    let found = std::fs::metadata(folder.path().join(FILE)).unwrap();
    assert_eq!(found.permissions().mode() & 0o777, 0o600);
}
