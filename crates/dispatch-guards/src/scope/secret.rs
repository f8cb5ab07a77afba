//! File names that look like secrets.

/// Whether a file of this name usually holds a secret.
pub(super) fn is_secret_name(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_lowercase();
    is_environment(&name) || is_key(&name) || is_login(&name)
}

/// `.env` and its variants, but not the templates that are meant to be committed.
fn is_environment(name: &str) -> bool {
    let Some(rest) = name.strip_prefix(".env") else { return false };
    let template = ["example", "sample", "template", "dist", "defaults", "schema"]
        .iter()
        .any(|kind| rest.split('.').any(|part| part == *kind));
    (rest.is_empty() || rest.starts_with(['.', '-', '_'])) && !template
}

fn is_key(name: &str) -> bool {
    let extensions = [".pem", ".p12", ".pfx", ".key", ".jks", ".keystore", ".kdbx", ".ppk"];
    if extensions.iter().any(|extension| name.len() > extension.len() && name.ends_with(extension))
    {
        return true;
    }
    let Some(kind) = name.strip_prefix("id_") else { return false };
    let (kind, extension) = kind.split_once('.').unwrap_or((kind, ""));
    let known = ["rsa", "dsa", "ecdsa", "ed25519", "ecdsa_sk", "ed25519_sk"].contains(&kind);
    // An `id_` name without an extension is a key under a name of one's own; with one, code.
    if known { extension != "pub" } else { extension.is_empty() && !kind.is_empty() }
}

fn is_login(name: &str) -> bool {
    [
        ".netrc",
        "_netrc",
        ".pgpass",
        ".htpasswd",
        ".git-credentials",
        ".dockercfg",
        "credentials.json",
    ]
    .contains(&name)
}
