//! The OpenAPI 3.1 document: from the table of routes, and from `openapi_schemas.json` for what bodies look like.

use crate::answers;
use crate::problem::{Kind, PROBLEM_TYPE, Problem, TYPE_PREFIX};
use crate::routes::{ROUTES, Route};
use axum::response::Response;
use serde_json::{Map, Value, json};

const SCHEMAS: &str = include_str!("openapi_schemas.json");

/// GET /v1/openapi.json
pub(crate) async fn serve() -> Result<Response, Problem> {
    answers::ok(&document())
}

fn document() -> Value {
    let mut paths = Map::new();
    for route in ROUTES {
        let path = paths.entry(route.path).or_insert_with(|| json!({}));
        path[route.method] = operation(route);
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Fanlog over HTTP",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Topics and queues. Times are RFC 3339 or milliseconds since 1970; lengths of time are 500ms, 20s, 5m, 2h, \
                            7d or milliseconds. There is no authentication: whoever reaches the port may read and write.",
            "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" },
        },
        "paths": paths,
        "components": { "schemas": schemas() },
    })
}

fn schemas() -> Value {
    let mut schemas: Value =
        serde_json::from_str(SCHEMAS).expect("the file is JSON: a test reads it");
    let kinds = Kind::ALL.iter();
    let kinds = kinds.map(|kind| Value::from(format!("{TYPE_PREFIX}{}", kind.name())));
    schemas["Problem"]["properties"]["type"]["enum"] = kinds.collect();
    schemas
}

fn reference(schema: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{schema}") })
}

fn operation(route: &Route) -> Value {
    let in_path = route.path.split('/').filter_map(|part| {
        let name = part.strip_prefix('{')?.strip_suffix('}')?;
        let schema = reference("Text");
        Some(json!({ "name": name, "in": "path", "required": true, "schema": schema }))
    });
    let in_query = route.query.iter().map(|(name, schema)| {
        json!({ "name": name, "in": "query", "required": false, "schema": reference(schema) })
    });
    let answer = match route.answer {
        Some(schema) => json!({
            "description": "done",
            "content": { "application/json": { "schema": reference(schema) } },
        }),
        None => json!({ "description": "done" }),
    };
    let status = route.status.to_string();
    let mut operation = json!({
        "operationId": route.id,
        "summary": route.summary,
        "parameters": in_path.chain(in_query).collect::<Vec<_>>(),
        "responses": {
            status: answer,
            "default": {
                "description": "a problem (RFC 9457)",
                "content": { PROBLEM_TYPE: { "schema": reference("Problem") } },
            },
        },
    });
    if let Some(schema) = route.body {
        let mut content = json!({ "application/json": { "schema": reference(schema) } });
        if route.id == "publish" {
            content["application/octet-stream"] = json!({});
        }
        operation["requestBody"] = json!({ "required": false, "content": content });
    }
    operation
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn references(value: &Value, found: &mut BTreeSet<String>) {
        match value {
            Value::Object(members) => {
                if let Some(Value::String(target)) = members.get("$ref") {
                    found.insert(target.clone());
                }
                members.values().for_each(|value| references(value, found));
            }
            Value::Array(items) => items.iter().for_each(|value| references(value, found)),
            _ => {}
        }
    }

    #[test]
    fn every_operation_has_a_name_of_its_own_and_every_reference_a_target() {
        let document = document();
        let ids: BTreeSet<_> = ROUTES.iter().map(|route| route.id).collect();
        assert_eq!(ids.len(), ROUTES.len());
        let mut found = BTreeSet::new();
        references(&document, &mut found);
        for target in &found {
            let pointer = target.strip_prefix('#').unwrap();
            assert!(document.pointer(pointer).is_some(), "{target}");
        }
        let schemas = document["components"]["schemas"].as_object().unwrap();
        for name in schemas.keys() {
            let target = format!("#/components/schemas/{name}");
            assert!(found.contains(&target), "nothing refers to {name}");
        }
    }
}
