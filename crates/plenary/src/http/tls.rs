//! TLS of `serve --tls-cert FILE --tls-key FILE`, for a server without a proxy in front.

use std::path::Path;
use std::sync::Arc;

use plenary_engine::error::Error;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// Reads a certificate chain and its key, both in PEM.
pub(crate) fn read_tls(cert: &Path, key: &Path) -> Result<Arc<ServerConfig>, Error> {
    let refuse = |path: &Path, what: &str, why: &dyn std::fmt::Display| {
        Error::Usage(format!("`{}` has no {what} that can be used: {why}", path.display()))
    };
    let chain = CertificateDer::pem_file_iter(cert).and_then(Iterator::collect);
    let chain: Vec<CertificateDer<'static>> =
        chain.map_err(|error| refuse(cert, "certificate", &error))?;
    let private =
        PrivateKeyDer::from_pem_file(key).map_err(|error| refuse(key, "private key", &error))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, private))
        .map_err(|error| refuse(cert, "certificate", &error))?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}
