//! [`AdmissionRules`]: which requests are answered, by host, origin, token and session.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::http::answer::ApiProblem;
use crate::http::connections::ConnectionState;
use crate::http::page_files::find_page_file;
use crate::http::session::SessionKeeper;

/// Host names by which local clients address this server.
const LOOPBACK_HOSTS: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];

/// A page of another site cannot send this header without our consent.
const OWN_HEADER: HeaderName = HeaderName::from_static("x-plenary");

/// The page loads nothing from elsewhere and runs no text of others.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'self'; \
    frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types lit-html";

/// Headers of every answer.
const SECURITY_HEADERS: [(HeaderName, &str); 5] = [
    (header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// The names by which clients may address the server.
#[derive(Debug, Clone)]
pub(crate) struct ServedNames {
    /// Accepted `Host` values, with port.
    pub hosts: Vec<String>,
    pub origins: Vec<String>,
}

impl ServedNames {
    /// The names of a server that listens here; `public` is the address of the proxy before it.
    pub(crate) fn new(address: SocketAddr, public: Option<&PublicAddress>) -> Self {
        let names = LOOPBACK_HOSTS.iter().map(|host| format!("{host}:{}", address.port()));
        // The user may listen on a loopback address other than 127.0.0.1.
        let mut hosts: Vec<String> = names.chain([address.to_string()]).collect();
        let mut origins: Vec<String> = hosts.iter().map(|host| format!("http://{host}")).collect();
        if let Some(public) = public {
            hosts.push(public.host.clone());
            origins.push(public.origin());
        }
        Self { hosts, origins }
    }
}

/// The address that browsers use when a proxy with TLS is in front: `https://HOST`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PublicAddress {
    host: String,
}

impl PublicAddress {
    /// Parses `https://HOST[:PORT]`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let host = text.strip_prefix("https://")?.trim_end_matches('/');
        let is_plain = |c: char| c.is_ascii_alphanumeric() || ".-:[]".contains(c);
        let is_host = !host.is_empty() && host.chars().all(is_plain);
        is_host.then(|| Self { host: host.to_ascii_lowercase() })
    }

    pub(crate) fn origin(&self) -> String {
        format!("https://{}", self.host)
    }
}

/// Which requests are admitted.
#[derive(Debug)]
pub(crate) struct AdmissionRules {
    pub names: ServedNames,
    pub sessions: Arc<SessionKeeper>,
}

/// What a request needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RequiredAccess {
    Nothing,
    /// The token, or a session.
    Read,
    /// The token, or a session of our own page.
    Change,
    Token,
}

fn required_access(method: &Method, path: &str) -> RequiredAccess {
    let is_read = [Method::GET, Method::HEAD].contains(method);
    match path {
        "/api/health" if is_read => RequiredAccess::Nothing,
        "/api/session" if *method == Method::POST => RequiredAccess::Nothing,
        path if is_read && find_page_file(path).is_some() => RequiredAccess::Nothing,
        path if path.starts_with("/api/") && is_read => RequiredAccess::Read,
        path if path.starts_with("/api/") => RequiredAccess::Change,
        _ => RequiredAccess::Token,
    }
}

impl AdmissionRules {
    /// Whether the request shows the token or a session; an error if it is refused.
    fn check_request(&self, request: &Request) -> Result<bool, ApiProblem> {
        let headers = request.headers();
        let origin = self.check_names(headers)?;
        let has_token = match only_header(headers, header::AUTHORIZATION) {
            Ok(value) => value.is_some_and(|given| self.sessions.matches_bearer(given.as_bytes())),
            Err(RepeatedHeader) => false,
        };
        let has_session = self.sessions.has_session(headers);
        let is_own = headers.get(OWN_HEADER).is_some_and(|value| value == "1");
        match required_access(request.method(), request.uri().path()) {
            RequiredAccess::Nothing => Ok(has_token || has_session),
            RequiredAccess::Read if has_token || has_session => Ok(true),
            RequiredAccess::Change | RequiredAccess::Token if has_token => Ok(true),
            RequiredAccess::Change if has_session && origin.is_some() && is_own => Ok(true),
            RequiredAccess::Change if has_session => Err(ApiProblem::new(
                StatusCode::FORBIDDEN,
                "not_authorized",
                "a change by a session needs the page's own `Origin` and `X-Plenary: 1`",
                "send both headers, or the token as `Authorization: Bearer TOKEN`",
            )),
            RequiredAccess::Read | RequiredAccess::Change | RequiredAccess::Token => {
                Err(wrong_token())
            }
        }
    }

    /// Checks host and origin. Returns the origin, which is ours.
    fn check_names<'h>(&self, headers: &'h HeaderMap) -> Result<Option<&'h str>, ApiProblem> {
        let host = only_header(headers, header::HOST).ok().flatten();
        let is_ours =
            |host: &str| self.names.hosts.iter().any(|own| host.eq_ignore_ascii_case(own));
        if !host.and_then(|host| host.to_str().ok()).is_some_and(is_ours) {
            return Err(ApiProblem::new(
                StatusCode::FORBIDDEN,
                "host_not_served",
                "this host is not served here",
                "use the address that `plenary serve` prints; behind a proxy start it with \
                 `--public-url`",
            ));
        }
        let foreign = || {
            ApiProblem::new(
                StatusCode::FORBIDDEN,
                "origin_not_allowed",
                "pages of other sites are not answered",
                "open the address that `plenary serve` prints",
            )
        };
        let origin = only_header(headers, header::ORIGIN).map_err(|RepeatedHeader| foreign())?;
        let Some(origin) = origin else { return Ok(None) };
        let is_own =
            |given: &&str| self.names.origins.iter().any(|own| own.eq_ignore_ascii_case(given));
        origin.to_str().ok().filter(is_own).map(Some).ok_or_else(foreign)
    }
}

/// A header that occurs twice: a proxy may have checked the other value.
struct RepeatedHeader;

fn only_header(
    headers: &HeaderMap,
    name: HeaderName,
) -> Result<Option<&HeaderValue>, RepeatedHeader> {
    let mut values = headers.get_all(name).iter();
    let value = values.next();
    if values.next().is_some() { Err(RepeatedHeader) } else { Ok(value) }
}

/// The problem of a request without the token.
pub(crate) fn wrong_token() -> ApiProblem {
    ApiProblem::new(
        StatusCode::UNAUTHORIZED,
        "token_required",
        "the token is missing or wrong",
        "send `Authorization: Bearer TOKEN`; `plenary serve` says where the token is, and \
         `plenary serve --open` opens the page with one",
    )
}

/// Admits or refuses a request, and adds the headers of every answer.
pub(crate) async fn admit_request(
    State(rules): State<Arc<AdmissionRules>>,
    request: Request,
    next: Next,
) -> Response {
    let mut response = match rules.check_request(&request) {
        Ok(is_known) => {
            let connection = request.extensions().get::<Arc<ConnectionState>>();
            if let Some(connection) = connection.filter(|_| is_known) {
                connection.mark_admitted();
            }
            next.run(request).await
        }
        Err(problem) => refuse_request(problem),
    };
    for (name, value) in SECURITY_HEADERS {
        response.headers_mut().entry(name).or_insert(HeaderValue::from_static(value));
    }
    response
}

/// Closes the connection of a refused client, to free its slot.
fn refuse_request(problem: ApiProblem) -> Response {
    let mut response = problem.into_response();
    let is_unknown = response.status() == StatusCode::UNAUTHORIZED;
    let headers = response.headers_mut();
    headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    if is_unknown {
        headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    response
}
