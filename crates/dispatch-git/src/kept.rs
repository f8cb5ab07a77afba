//! Folders kept between attempts, and how we know them again (D6.5).

use std::fs;
use std::os::unix::fs::MetadataExt;

use camino::Utf8Path;
use dispatch_core::hex::hex;
use dispatch_core::path::RepoPath;
use dispatch_proc::{Links, read_regular};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::GitError;
use crate::private_dir::PrivateDir;
use crate::walk::{Kind, Step, absolute, reached_without_links, walk};

const MANIFESTS: &str = "kept.json";

/// The most bytes that are read of it: a digest for each of the configured folders.
const MANIFESTS_MAX_BYTES: u64 = 1 << 20;

/// What we remember of the folders: one digest each over path, inode, size and change time of all they hold.
///
/// A worker can set any time of a file but the time of its last change, which the kernel sets.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Manifests {
    folders: std::collections::BTreeMap<RepoPath, String>,
}

/// Remembers the folders as they are now.
pub(crate) fn remember(
    private: &PrivateDir,
    root: &Utf8Path,
    keep: &[RepoPath],
) -> Result<(), GitError> {
    let mut manifests = Manifests::default();
    for folder in keep {
        if let Some(digest) = digest(root, folder)? {
            manifests.folders.insert(folder.clone(), digest);
        }
    }
    let text = serde_json::to_vec(&manifests).unwrap_or_default();
    private.write(MANIFESTS, &text)
}

/// Splits the folders that are there into those unchanged since they were remembered, and the others.
pub(crate) fn split(
    private: &PrivateDir,
    root: &Utf8Path,
    keep: &[RepoPath],
) -> Result<(Vec<RepoPath>, Vec<RepoPath>), GitError> {
    // What cannot be read remembers nothing: everything is thrown away, which loses no work.
    let manifests = private.path().join(MANIFESTS);
    let known: Manifests = read_regular(&manifests, Links::Refused, MANIFESTS_MAX_BYTES)
        .ok()
        .and_then(|text| serde_json::from_slice(&text).ok())
        .unwrap_or_default();
    let (mut unchanged, mut changed) = (Vec::new(), Vec::new());
    for folder in keep {
        match digest(root, folder)? {
            None => {}
            Some(digest) if known.folders.get(folder) == Some(&digest) => {
                unchanged.push(folder.clone());
            }
            Some(_) => changed.push(folder.clone()),
        }
    }
    Ok((unchanged, changed))
}

/// The digest of a folder; none when there is nothing, and one that equals no other for what is no folder.
fn digest(root: &Utf8Path, folder: &RepoPath) -> Result<Option<String>, GitError> {
    let at = root.join(folder.as_path());
    let real_folder = reached_without_links(root, folder.as_str().as_bytes());
    match fs::symlink_metadata(&at) {
        Err(_) => Ok(None),
        Ok(_) if !real_folder => Ok(Some("not a folder".to_owned())),
        Ok(metadata) => {
            let mut hasher = Sha256::new();
            note(&mut hasher, b"", &metadata);
            walk(&at, |met| {
                note(&mut hasher, met.path, met.metadata);
                if met.kind == Kind::Link {
                    let target = fs::read_link(absolute(&at, met.path)).unwrap_or_default();
                    hasher.update(target.as_os_str().as_encoded_bytes());
                }
                Ok(Step::Into)
            })?;
            Ok(Some(hex(&hasher.finalize())))
        }
    }
}

fn note(hasher: &mut Sha256, path: &[u8], metadata: &fs::Metadata) {
    hasher.update(path);
    hasher.update([0]);
    for value in [metadata.dev(), metadata.ino(), metadata.size(), u64::from(metadata.mode())] {
        hasher.update(value.to_le_bytes());
    }
    hasher.update(metadata.ctime().to_le_bytes());
    hasher.update(metadata.ctime_nsec().to_le_bytes());
}
