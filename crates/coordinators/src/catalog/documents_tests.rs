use super::super::testing::{Catalog, outcome};
use super::*;

fn put(
    catalog: &mut Catalog,
    name: &str,
    expected: Option<u64>,
    bytes: impl Into<Bytes>,
) -> Result<Arc<Document>, DocumentError> {
    let put = PutDocument {
        space: "space".to_owned(),
        name: name.to_owned(),
        expected,
        drawn: 1_000,
        bytes: bytes.into(),
    };
    let decision = put_document(&catalog.ledger, &put);
    catalog.carry_out(decision)
}

fn delete(catalog: &mut Catalog, name: &str, expected: u64) -> Result<(), DocumentError> {
    let decision = delete_document(&catalog.ledger, ("space", name), expected);
    catalog.carry_out(decision)
}

fn names(catalog: &Catalog, space: &str) -> Vec<String> {
    let documents = catalog.ledger.view().documents(space);
    documents.map(|document| document.name.clone()).collect()
}

#[test]
fn a_document_is_made_changed_and_deleted_by_who_knows_its_version() {
    let mut catalog = Catalog::started(&[]);
    assert_eq!(put(&mut catalog, "a", None, "1").unwrap().version, 1_000);
    assert_eq!(
        outcome(&put(&mut catalog, "a", None, "2")),
        "document 'a' in space is not as it was (expected none, found version 3e8); read it again"
    );
    let changed = put(&mut catalog, "a", Some(1_000), "2").unwrap();
    assert_eq!((changed.version, &changed.bytes[..]), (1_001, &b"2"[..]));
    assert!(put(&mut catalog, "a", Some(1_000), "3").is_err());
    assert!(delete(&mut catalog, "a", 1_000).is_err());
    let found = catalog.ledger.view().document("space", "a").cloned();
    assert_eq!(found, Some(changed));
    delete(&mut catalog, "a", 1_001).unwrap();
    assert_eq!(catalog.ledger.view().document("space", "a"), None);
    assert!(put(&mut catalog, "a", Some(1_001), "3").is_err());
    assert_eq!(catalog.ledger.view().document_bytes(), 0);
}

#[test]
fn documents_stand_in_the_order_of_their_names_in_their_space() {
    let mut catalog = Catalog::started(&[]);
    for name in ["b", "a", "c"] {
        put(&mut catalog, name, None, "").unwrap();
    }
    assert_eq!(names(&catalog, "space"), ["a", "b", "c"]);
    assert_eq!(names(&catalog, "other"), Vec::<String>::new());
}

#[test]
fn what_is_too_long_or_has_no_name_is_refused() {
    let mut catalog = Catalog::started(&[]);
    let long = "n".repeat(DOCUMENT_NAME_BYTES_MAX + 1);
    for name in ["", &long] {
        let refused = put(&mut catalog, name, None, "");
        let length = name.len();
        let expected = DocumentError::BadName {
            what: "name",
            length,
        };
        assert_eq!(refused, Err(expected));
    }
    put(&mut catalog, &long[1..], None, vec![0; DOCUMENT_BYTES_MAX]).unwrap();
    let refused = put(&mut catalog, "a", None, vec![0; DOCUMENT_BYTES_MAX + 1]);
    assert!(matches!(refused, Err(DocumentError::TooLarge { .. })));
}

#[test]
fn all_together_they_take_no_more_than_is_allowed_and_can_still_be_made_smaller() {
    let mut catalog = Catalog::started(&[]);
    let most = Bytes::from(vec![0; DOCUMENT_BYTES_MAX]);
    let mut count = 0;
    let refused = loop {
        match put(&mut catalog, &format!("{count:03}"), None, most.clone()) {
            Ok(_) => count += 1,
            Err(error) => break error,
        }
    };
    assert!(
        matches!(
            refused,
            DocumentError::Full {
                what: "bytes of documents",
                max: DOCUMENTS_BYTES_MAX,
                ..
            }
        ),
        "{refused}"
    );
    assert!(catalog.ledger.view().document_bytes() <= DOCUMENTS_BYTES_MAX);
    put(&mut catalog, "000", Some(1_000), most.slice(1..)).unwrap();
    delete(&mut catalog, "000", 1_001).unwrap();
    put(&mut catalog, "last", None, most).unwrap();
}
