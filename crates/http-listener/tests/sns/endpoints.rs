//! HTTP endpoints: the handshake, signatures, retries, dead letters, and that one delays nobody else.

use crate::client::{
    Endpoint, Sent, attribute, done, envelope, queue, queue_arn, receive, refused, subscribe_to,
    text,
};
use crate::support::{Served, ask, serve_in};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use fanlog_http_listener::HttpConfig;
use rsa::pkcs1v15::{Signature, VerifyingKey};
use rsa::pkcs8::DecodePublicKey;
use rsa::signature::Verifier;
use serde_json::{Value, json};
use std::net::SocketAddr;
use tempfile::TempDir;
use x509_cert::der::{DecodePem, Encode};

const ALLOWED: (&str, &str) = ("aws.sns.endpoints", "http://");

async fn serve_endpoints(folder: TempDir, settings: &[(&str, &str)]) -> Served {
    let any_port = SocketAddr::from(([127, 0, 0, 1], 0));
    let mut all = vec![ALLOWED];
    all.extend(settings);
    serve_in(folder, HttpConfig::new(any_port), &all).await
}

async fn topic(served: &Served) -> String {
    text(
        &done(served, "CreateTopic", &[("Name", "t")]).await,
        "TopicArn",
    )
}

async fn publish(served: &Served, topic: &str, message: &str) -> String {
    let given = [
        ("TopicArn", topic),
        ("Message", message),
        ("Subject", "news"),
    ];
    text(&done(served, "Publish", &given).await, "MessageId")
}

/// Follows an address to ourselves.
async fn get(served: &Served, url: &str) -> (u16, String) {
    let path = url
        .strip_prefix(&format!("http://{}", served.address))
        .unwrap();
    let (status, _, body) = ask(served.address, "GET", path, &[], b"").await;
    (status, body)
}

async fn confirm(served: &Served, asked: &Sent) -> String {
    assert_eq!(
        asked.header("x-amz-sns-message-type"),
        Some("SubscriptionConfirmation")
    );
    let url = asked.json()["SubscribeURL"].as_str().unwrap().to_owned();
    let (status, xml) = get(served, &url).await;
    assert_eq!(status, 200, "{xml}");
    text(&xml, "SubscriptionArn")
}

/// Checks a message as its receivers do: by the certificate that it names.
async fn check_signature(served: &Served, message: &Value) {
    let field = |name: &str| message[name].as_str().map(str::to_owned);
    let (status, pem) = get(served, &field("SigningCertURL").unwrap()).await;
    assert_eq!(status, 200);
    let certificate = x509_cert::Certificate::from_pem(&pem).unwrap();
    let public = certificate.tbs_certificate().subject_public_key_info();
    let public = rsa::PublicKey::from_public_key_der(&public.to_der().unwrap()).unwrap();
    let mut signed = String::new();
    let names = [
        "Message",
        "MessageId",
        "Subject",
        "SubscribeURL",
        "Timestamp",
        "Token",
        "TopicArn",
        "Type",
    ];
    for name in names {
        if let Some(value) = field(name) {
            signed.push_str(&format!("{name}\n{value}\n"));
        }
    }
    let signature = STANDARD.decode(field("Signature").unwrap()).unwrap();
    let signature = Signature::try_from(signature.as_slice()).unwrap();
    let checked = match field("SignatureVersion").as_deref() {
        Some("1") => VerifyingKey::<sha1::Sha1>::new(public).verify(signed.as_bytes(), &signature),
        _ => VerifyingKey::<sha2::Sha256>::new(public).verify(signed.as_bytes(), &signature),
    };
    checked.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_endpoint_is_asked_first_and_gets_signed_messages_once_it_has_confirmed() {
    let served = serve_endpoints(TempDir::new().unwrap(), &[]).await;
    let arn = topic(&served).await;
    let mut endpoint = Endpoint::open().await;
    let subscription = subscribe_to(&served, &arn, "http", &endpoint.url(), &[]).await;
    let of = ("SubscriptionArn", subscription.as_str());
    let shown = done(&served, "GetSubscriptionAttributes", &[of]).await;
    assert_eq!(
        attribute(&shown, "PendingConfirmation").as_deref(),
        Some("true")
    );
    publish(&served, &arn, "before it was confirmed").await;
    let asked = endpoint.next().await;
    check_signature(&served, &asked.json()).await;
    let (code, _) = refused(
        &served,
        "ConfirmSubscription",
        &[("TopicArn", &arn), ("Token", "made up")],
    )
    .await;
    assert_eq!(code, "InvalidParameter");
    assert_eq!(confirm(&served, &asked).await, subscription);
    // Once more is the same.
    assert_eq!(confirm(&served, &asked).await, subscription);
    let id = publish(&served, &arn, "after").await;
    let sent = endpoint.next().await;
    assert_eq!(sent.header("x-amz-sns-message-type"), Some("Notification"));
    assert_eq!(sent.header("x-amz-sns-topic-arn"), Some(arn.as_str()));
    assert_eq!(
        sent.header("x-amz-sns-subscription-arn"),
        Some(subscription.as_str())
    );
    assert_eq!(
        sent.header("content-type"),
        Some("text/plain; charset=UTF-8")
    );
    let message = sent.json();
    assert_eq!(
        (&message["Message"], &message["MessageId"]),
        (&json!("after"), &json!(id))
    );
    check_signature(&served, &message).await;
    let set = [
        ("TopicArn", &*arn),
        ("AttributeName", "SignatureVersion"),
        ("AttributeValue", "2"),
    ];
    done(&served, "SetTopicAttributes", &set).await;
    publish(&served, &arn, "over the other digest").await;
    let message = endpoint.next().await.json();
    assert_eq!(message["SignatureVersion"], "2");
    check_signature(&served, &message).await;
    let (status, _) = get(&served, message["UnsubscribeURL"].as_str().unwrap()).await;
    assert_eq!(status, 200);
    let (code, _) = refused(&served, "GetSubscriptionAttributes", &[of]).await;
    assert_eq!(code, "NotFound");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_fails_is_sent_again_and_what_is_refused_for_good_is_a_dead_letter() {
    let no_confirmation = [("aws.sns.confirmation", "false")];
    let served = serve_endpoints(TempDir::new().unwrap(), &no_confirmation).await;
    let arn = topic(&served).await;
    let dead = queue(&served, "dead", json!({})).await;
    let mut endpoint = Endpoint::open().await;
    let redrive = json!({ "deadLetterTargetArn": queue_arn("dead") }).to_string();
    let delivery = json!({ "healthyRetryPolicy": {
        "numRetries": 2, "numNoDelayRetries": 2, "minDelayTarget": 1, "maxDelayTarget": 1,
    } });
    let attributes = [
        ("RedrivePolicy", redrive.as_str()),
        ("DeliveryPolicy", &delivery.to_string()),
    ];
    subscribe_to(&served, &arn, "http", &endpoint.url(), &attributes).await;
    endpoint.will_answer(&[500, 429]).await;
    publish(&served, &arn, "taken the third time").await;
    for _ in 0..3 {
        assert_eq!(
            endpoint.next().await.json()["Message"],
            "taken the third time"
        );
    }
    endpoint.will_answer(&[503, 503, 503]).await;
    let id = publish(&served, &arn, "never taken").await;
    for _ in 0..3 {
        assert_eq!(endpoint.next().await.json()["Message"], "never taken");
    }
    let letter = envelope(&receive(&served, &dead, 1).await[0]);
    assert_eq!(
        (&letter["Message"], &letter["MessageId"]),
        (&json!("never taken"), &json!(id))
    );
    endpoint.will_answer(&[404]).await;
    publish(&served, &arn, "refused").await;
    assert_eq!(endpoint.next().await.json()["Message"], "refused");
    let letter = envelope(&receive(&served, &dead, 1).await[0]);
    assert_eq!(letter["Message"], "refused");
    let (_, _, metrics) = ask(served.address, "GET", "/metrics", &[], b"").await;
    let counted = |outcome: &str| {
        let line = format!("sns_deliveries_total{{protocol=\"http\",outcome=\"{outcome}\"}}");
        let found = metrics.lines().find(|one| one.contains(&line));
        found
            .unwrap_or_default()
            .rsplit(' ')
            .next()
            .unwrap()
            .to_owned()
    };
    assert_eq!(
        (&*counted("delivered"), &*counted("refused")),
        ("1", "1"),
        "{metrics}"
    );
    assert_eq!((&*counted("failed"), &*counted("given-up")), ("4", "1"));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_endpoint_that_says_nothing_delays_no_other_and_raw_messages_have_no_envelope() {
    let no_confirmation = [("aws.sns.confirmation", "false")];
    let served = serve_endpoints(TempDir::new().unwrap(), &no_confirmation).await;
    let arn = topic(&served).await;
    let mut silent = Endpoint::open().await;
    silent.will_answer(&[0; 64]).await;
    let mut quick = Endpoint::open().await;
    subscribe_to(&served, &arn, "http", &silent.url(), &[]).await;
    let raw = [("RawMessageDelivery", "true")];
    subscribe_to(&served, &arn, "http", &quick.url(), &raw).await;
    for number in 0..20 {
        publish(&served, &arn, &number.to_string()).await;
    }
    silent.next().await;
    let mut bodies = Vec::new();
    for _ in 0..20 {
        let sent = quick.next().await;
        assert_eq!(sent.header("x-amz-sns-rawdelivery"), Some("true"));
        bodies.push(sent.body.parse::<u32>().unwrap());
    }
    bodies.sort_unstable();
    assert_eq!(bodies, (0..20).collect::<Vec<_>>());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restart_keeps_subscriptions_tokens_the_key_and_what_was_not_sent() {
    let served = serve_endpoints(TempDir::new().unwrap(), &[]).await;
    let arn = topic(&served).await;
    let (mut first, mut second) = (Endpoint::open().await, Endpoint::open().await);
    let policy = json!({ "healthyRetryPolicy": { "numRetries": 3, "minDelayTarget": 1, "maxDelayTarget": 1 } });
    let policy = [("DeliveryPolicy", &*policy.to_string())];
    subscribe_to(&served, &arn, "http", &first.url(), &policy).await;
    confirm(&served, &first.next().await).await;
    let pending = subscribe_to(&served, &arn, "http", &second.url(), &[]).await;
    let asked = second.next().await.json();
    first.will_answer(&[500]).await;
    publish(&served, &arn, "not taken yet").await;
    let before = first.next().await.json();
    let (_, certificate) = get(&served, before["SigningCertURL"].as_str().unwrap()).await;
    let folder = served.end().await;

    let served = serve_endpoints(folder, &[]).await;
    // Addresses lead to where who subscribed has reached us: that port is another one now.
    let again = first.next().await.json();
    assert_eq!(again, before, "it says the same, signature and all");
    let path = again["SigningCertURL"]
        .as_str()
        .unwrap()
        .rsplit_once('/')
        .unwrap()
        .1;
    let (status, _, same) = ask(served.address, "GET", &format!("/{path}"), &[], b"").await;
    assert_eq!((status, same), (200, certificate));
    let token = [
        ("TopicArn", &*arn),
        ("Token", asked["Token"].as_str().unwrap()),
    ];
    let confirmed = done(&served, "ConfirmSubscription", &token).await;
    assert_eq!(text(&confirmed, "SubscriptionArn"), pending);
    // It is asked again after the restart, maybe, before it gets what is published.
    publish(&served, &arn, "to both").await;
    let to_second = async {
        loop {
            let sent = second.next().await.json();
            if sent["Type"] == "Notification" {
                return sent;
            }
        }
    };
    assert_eq!(to_second.await["Message"], "to both");
    assert_eq!(first.next().await.json()["Message"], "to both");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_follows_an_address_needs_no_signature_where_all_else_does() {
    let credentials = [("aws.credentials", "id:secret")];
    let served = serve_endpoints(TempDir::new().unwrap(), &credentials).await;
    let (code, _) = refused(&served, "CreateTopic", &[("Name", "t")]).await;
    assert_eq!(code, "MissingAuthenticationToken");
    let topic = "arn:aws:sns:us-east-1:000000000000:t";
    let token = [("TopicArn", topic), ("Token", "x")];
    let (code, _) = refused(&served, "ConfirmSubscription", &token).await;
    assert_eq!(code, "NotFound");
    let subscription = format!("{topic}:00000000-0000-4000-8000-000000000000");
    done(
        &served,
        "Unsubscribe",
        &[("SubscriptionArn", &subscription)],
    )
    .await;
}
