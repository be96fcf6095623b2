//! `GET /api/openapi.json`: the OpenAPI 3.1 document, made from [`ROUTES`] and their types.

use std::sync::LazyLock;

use axum::http::StatusCode;
use axum::response::Response;
use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use crate::http::answer::{ApiProblem, json_text};
use crate::http::routes::{ApiRoute, ROUTES, RouteAnswer, start_schema};

static DOCUMENT: LazyLock<String> = LazyLock::new(|| openapi_document().to_string());

pub(crate) async fn show_openapi() -> Result<Response, ApiProblem> {
    json_text(StatusCode::OK, DOCUMENT.clone())
}

/// Fields of a request that the address fixes, or that only MCP has.
const FIXED_FIELDS: [&str; 4] = ["dialogue_id", "kind", "resume", "wait_seconds"];

/// Builds the document.
pub(crate) fn openapi_document() -> Value {
    let mut settings = SchemaSettings::draft2020_12();
    settings.definitions_path = "/components/schemas".into();
    let mut generator = settings.into_generator();
    let mut paths: Map<String, Value> = Map::new();
    for route in ROUTES {
        let operation = describe_route(route, &mut generator);
        let path = paths.entry(route.path).or_insert_with(|| json!({}));
        if let Some(methods) = path.as_object_mut() {
            methods.insert(route.method.to_owned(), operation);
        }
    }
    let mut schemas = generator.take_definitions(true);
    schemas.insert("Problem".to_owned(), problem_schema());
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Plenary",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "The API of `plenary serve`. Changes need the token, or a session with \
                the page's own `Origin` and `X-Plenary: 1`.",
        },
        "security": [{ "token": [] }, { "session": [] }],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {
                "token": { "type": "http", "scheme": "bearer" },
                "session": { "type": "apiKey", "in": "cookie", "name": "plenary_session_PORT" },
            },
        },
    })
}

fn describe_route(route: &ApiRoute, generator: &mut SchemaGenerator) -> Value {
    let failed = json!({ "description": "The request failed", "content": {
        "application/problem+json": { "schema": { "$ref": "#/components/schemas/Problem" } },
    } });
    let (status, response) = describe_answer(route.answer, generator);
    let responses = Map::from_iter([(status.to_owned(), response), ("default".to_owned(), failed)]);
    let mut operation = Map::from_iter([
        ("summary".to_owned(), route.about.into()),
        ("parameters".to_owned(), list_parameters(route).into()),
        ("responses".to_owned(), responses.into()),
    ]);
    if let Some(body) = route.body {
        let schema = without_fixed(body());
        let body = json!({ "content": { "application/json": { "schema": schema } } });
        operation.insert("requestBody".to_owned(), body);
    }
    if ["/api/health", "/api/session"].contains(&route.path) {
        operation.insert("security".to_owned(), json!([]));
    }
    operation.into()
}

fn describe_answer(answer: RouteAnswer, generator: &mut SchemaGenerator) -> (&'static str, Value) {
    let json_of = |schema: Value, about: &str| json!({ "description": about, "content": { "application/json": { "schema": schema } } });
    match answer {
        RouteAnswer::Json(schema) => ("200", json_of(schema(generator).into(), "The answer")),
        RouteAnswer::Started => {
            ("202", json_of(start_schema(generator).into(), "The run started, or continues"))
        }
        RouteAnswer::NoContent => ("204", json!({ "description": "Done" })),
        RouteAnswer::Events => (
            "200",
            json!({ "description": "Events, as docs/events.md lists them",
                "content": { "text/event-stream": { "schema": { "type": "string" } } } }),
        ),
        RouteAnswer::File => ("200", json!({ "description": "The file" })),
    }
}

fn list_parameters(route: &ApiRoute) -> Vec<Value> {
    let names = route.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    let in_path = names.map(|name| {
        json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string" } })
    });
    let in_query = route.query.iter().map(|(name, about)| {
        json!({ "name": name, "in": "query", "description": about, "schema": { "type": "string" } })
    });
    in_path.chain(in_query).collect()
}

/// The schema of a body without fields that the address fixes and without our own keywords.
fn without_fixed(mut schema: Value) -> Value {
    if let Some(fields) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        fields.retain(|name, _| !FIXED_FIELDS.contains(&name.as_str()));
    }
    if let Some(required) = schema.get_mut("required").and_then(Value::as_array_mut) {
        required.retain(|name| !FIXED_FIELDS.iter().any(|fixed| name == fixed));
    }
    drop_own_keywords(schema)
}

fn drop_own_keywords(schema: Value) -> Value {
    match schema {
        Value::Object(fields) => fields
            .into_iter()
            .filter(|(name, _)| !name.starts_with("x-") && name != "$schema")
            .map(|(name, value)| (name, drop_own_keywords(value)))
            .collect(),
        Value::Array(list) => list.into_iter().map(drop_own_keywords).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => schema,
    }
}

fn problem_schema() -> Value {
    json!({
        "type": "object",
        "description": "RFC 9457, with the error document of the command line and MCP.",
        "properties": {
            "type": { "type": "string" }, "title": { "type": "string" },
            "status": { "type": "integer" }, "detail": { "type": "string" },
            "error_code": { "type": "string" }, "message": { "type": "string" },
            "suggestion": { "type": "string" },
        },
        "required": ["type", "title", "status", "detail", "error_code", "message"],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/http.md");
    const MARKS: [&str; 2] = ["<!-- routes -->\n", "<!-- end of routes -->"];

    /// The names of the fields of a body; an optional one has a question mark.
    fn body_fields(operation: &Value) -> String {
        let schema = &operation["requestBody"]["content"]["application/json"]["schema"];
        let required: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let names = schema["properties"].as_object().into_iter().flatten().map(|(name, _)| {
            if required.contains(&name.as_str()) { name.clone() } else { format!("{name}?") }
        });
        let names: Vec<String> = names.collect();
        if names.is_empty() { String::new() } else { format!(" `{{{}}}`", names.join(", ")) }
    }

    fn query_fields(operation: &Value) -> String {
        let all = operation["parameters"].as_array().unwrap().iter();
        let names = all.filter(|one| one["in"] == "query").map(|one| {
            format!("`{}` {}", one["name"].as_str().unwrap(), one["description"].as_str().unwrap())
        });
        let names: Vec<String> = names.collect();
        if names.is_empty() { String::new() } else { format!(". Query: {}", names.join("; ")) }
    }

    /// What an answer is: the fields of its document, or its type.
    fn answer_fields(document: &Value, operation: &Value) -> String {
        let mut responses = operation["responses"].as_object().unwrap().iter();
        let (status, response) = responses.find(|(status, _)| *status != "default").unwrap();
        let status = if status == "200" { String::new() } else { format!("{status} ") };
        let mut schema = &response["content"]["application/json"]["schema"];
        if let Some(name) = schema["$ref"].as_str() {
            schema = document.pointer(name.trim_start_matches('#')).unwrap();
        }
        let names: Vec<&str> = schema["properties"]
            .as_object()
            .map(|fields| fields.keys().map(String::as_str).collect())
            .unwrap_or_default();
        let about = match (schema["description"].as_str(), schema.is_object()) {
            (Some(about), _) => about,
            (None, true) => "A JSON object, as the command prints it",
            (None, false) => response["description"].as_str().unwrap(),
        };
        match names.is_empty() {
            true => format!("{status}{about}"),
            false => format!("{status}`{{{}}}`", names.join(", ")),
        }
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a page of the repository, and a flag of tests")]
    fn the_page_lists_every_route() {
        let document = openapi_document();
        let mut table = "| Route | Meaning | Answer |\n|---|---|---|\n".to_owned();
        for (path, methods) in document["paths"].as_object().unwrap() {
            for (method, operation) in methods.as_object().unwrap() {
                let about = operation["summary"].as_str().unwrap();
                let (body, query) = (body_fields(operation), query_fields(operation));
                let method = method.to_uppercase();
                let answer = answer_fields(&document, operation);
                let row = format!("| `{method} {path}`{body} | {about}{query} | {answer} |\n");
                table.push_str(&row);
            }
        }
        let page = std::fs::read_to_string(PAGE).unwrap();
        let (before, rest) = page.split_once(MARKS[0]).unwrap();
        let (listed, after) = rest.split_once(MARKS[1]).unwrap();
        if std::env::var_os("UPDATE_DOCS").is_some() {
            let updated = format!("{before}{}{table}{}{after}", MARKS[0], MARKS[1]);
            std::fs::write(PAGE, updated).unwrap();
            return;
        }
        assert_eq!(listed, table, "UPDATE_DOCS=1 writes the table");
    }
}
