//! Toolchains: where they really are, so that they work in a private home (D7.6, W3.2).

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};

closed_set! {
    /// A toolchain that confined programs may use.
    Preset, "toolchain preset" {
        Rust = "rust",
        Node = "node",
        Pnpm = "pnpm",
        Npm = "npm",
        Yarn = "yarn",
        Bun = "bun",
        Deno = "deno",
        Python = "python",
        Uv = "uv",
        Go = "go",
        Java = "java",
        Dotnet = "dotnet",
        Ruby = "ruby",
    }
}

/// A variable that says where a toolchain is, with the folder below the person's home that it means when it is not set.
struct HomeVariable {
    name: &'static str,
    default: Option<&'static str>,
}

const fn home(name: &'static str, default: &'static str) -> HomeVariable {
    HomeVariable { name, default: Some(default) }
}

const fn set_only(name: &'static str) -> HomeVariable {
    HomeVariable { name, default: None }
}

impl Preset {
    /// The variables that say where the toolchain is; it is only read there.
    const fn homes(self) -> &'static [HomeVariable] {
        match self {
            Self::Rust => const { &[home("RUSTUP_HOME", ".rustup"), set_only("RUSTUP_TOOLCHAIN")] },
            Self::Node | Self::Npm | Self::Yarn => {
                const {
                    &[
                        home("NVM_DIR", ".nvm"),
                        home("VOLTA_HOME", ".volta"),
                        home("FNM_DIR", ".local/share/fnm"),
                    ]
                }
            }
            Self::Pnpm => {
                const { &[home("PNPM_HOME", ".local/share/pnpm"), home("NVM_DIR", ".nvm")] }
            }
            Self::Bun => const { &[home("BUN_INSTALL", ".bun")] },
            Self::Deno => const { &[home("DENO_INSTALL", ".deno")] },
            Self::Python => const { &[home("PYENV_ROOT", ".pyenv")] },
            Self::Uv => const { &[home("UV_PYTHON_INSTALL_DIR", ".local/share/uv/python")] },
            Self::Go => {
                const { &[set_only("GOROOT"), set_only("GOTOOLCHAIN"), set_only("GOPROXY")] }
            }
            Self::Java => const { &[set_only("JAVA_HOME"), home("SDKMAN_DIR", ".sdkman")] },
            Self::Dotnet => const { &[home("DOTNET_ROOT", ".dotnet")] },
            Self::Ruby => const { &[home("RBENV_ROOT", ".rbenv")] },
        }
    }

    /// The variables that say where the toolchain writes, with the folder of the slot's own caches.
    const fn caches(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Rust => &[("CARGO_HOME", "cargo")],
            Self::Node | Self::Npm => &[("npm_config_cache", "npm")],
            Self::Pnpm => &[("npm_config_store_dir", "pnpm-store"), ("npm_config_cache", "npm")],
            Self::Yarn => &[("YARN_CACHE_FOLDER", "yarn")],
            Self::Bun => &[("BUN_INSTALL_CACHE_DIR", "bun")],
            Self::Deno => &[("DENO_DIR", "deno")],
            Self::Python => &[("PIP_CACHE_DIR", "pip")],
            Self::Uv => &[("UV_CACHE_DIR", "uv")],
            Self::Go => &[("GOPATH", "go"), ("GOCACHE", "go-build")],
            Self::Java => &[("GRADLE_USER_HOME", "gradle")],
            Self::Dotnet => &[("NUGET_PACKAGES", "nuget"), ("DOTNET_CLI_HOME", "dotnet")],
            Self::Ruby => &[("BUNDLE_USER_HOME", "bundle")],
        }
    }
}

/// The variables of `presets` for a process whose caches are below `caches`.
pub(super) fn preset_variables(
    presets: &[Preset],
    person: &BTreeMap<String, String>,
    caches: &Utf8Path,
) -> BTreeMap<String, String> {
    let mut variables = BTreeMap::new();
    for preset in presets {
        for variable in preset.homes() {
            if let Some(place) = real_home(variable, person) {
                variables.insert(variable.name.to_owned(), place);
            }
        }
        for (name, folder) in preset.caches() {
            variables.insert((*name).to_owned(), caches.join(folder).into_string());
        }
    }
    variables
}

/// The folders that a confined process must be able to read for `presets` to work; some may not exist.
pub fn preset_readable(presets: &[Preset], person: &BTreeMap<String, String>) -> Vec<Utf8PathBuf> {
    let mut folders: Vec<Utf8PathBuf> = presets
        .iter()
        .flat_map(|preset| preset.homes())
        .filter_map(|variable| real_home(variable, person))
        .filter(|place| place.starts_with('/'))
        .map(Utf8PathBuf::from)
        .collect();
    // The proxies that `rustup` puts on the PATH.
    if presets.contains(&Preset::Rust) {
        let cargo = HomeVariable { name: "CARGO_HOME", default: Some(".cargo") };
        folders.extend(real_home(&cargo, person).map(|home| Utf8PathBuf::from(home).join("bin")));
    }
    folders.sort();
    folders.dedup();
    folders
}

fn real_home(variable: &HomeVariable, person: &BTreeMap<String, String>) -> Option<String> {
    if let Some(value) = person.get(variable.name).filter(|value| !value.is_empty()) {
        return Some(value.clone());
    }
    let below = person.get("HOME").filter(|home| home.starts_with('/'))?;
    variable.default.map(|default| Utf8Path::new(below).join(default).into_string())
}
