//! Holds the order of the crates: dependencies point down the list only, and the pure crates reach nothing of the world.
//! The list is the map in ARCHITECTURE.md; a change to one is a change to the other.

use std::collections::BTreeMap;
use std::process::Command;

use serde_json::Value;

/// Every crate with those it may use. A crate that is not in the list fails the test.
const ALLOWED: &[(&str, &[&str])] = &[
    ("fanlog-model", &[]),
    ("fanlog-protocol", &["fanlog-model"]),
    ("fanlog-aws-protocol", &[]),
    ("fanlog-coordinators", &["fanlog-model", "fanlog-protocol"]),
    ("fanlog-environment", &["fanlog-model"]),
    (
        "fanlog-storage",
        &["fanlog-model", "fanlog-protocol", "fanlog-environment"],
    ),
    (
        "fanlog-broker",
        &[
            "fanlog-model",
            "fanlog-protocol",
            "fanlog-coordinators",
            "fanlog-environment",
            "fanlog-storage",
        ],
    ),
    (
        "fanlog-simulator",
        &[
            "fanlog-model",
            "fanlog-protocol",
            "fanlog-coordinators",
            "fanlog-environment",
            "fanlog-storage",
            "fanlog-broker",
        ],
    ),
    (
        "fanlog-kafka-listener",
        &[
            "fanlog-model",
            "fanlog-protocol",
            "fanlog-coordinators",
            "fanlog-environment",
            "fanlog-broker",
        ],
    ),
    (
        "fanlog-aws",
        &[
            "fanlog-model",
            "fanlog-aws-protocol",
            "fanlog-coordinators",
            "fanlog-environment",
            "fanlog-broker",
        ],
    ),
    (
        "fanlog-http-listener",
        &[
            "fanlog-model",
            "fanlog-protocol",
            "fanlog-aws-protocol",
            "fanlog-coordinators",
            "fanlog-environment",
            "fanlog-broker",
            "fanlog-aws",
        ],
    ),
    // A broker is there for its tests and examples only.
    (
        "fanlog-bench",
        &[
            "fanlog-model",
            "fanlog-protocol",
            "fanlog-environment",
            "fanlog-storage",
            "fanlog-broker",
            "fanlog-kafka-listener",
        ],
    ),
    ("fanlog-client", &["fanlog-model", "fanlog-protocol"]),
    (
        "fanlog",
        &[
            "fanlog-model",
            "fanlog-protocol",
            "fanlog-environment",
            "fanlog-broker",
            "fanlog-kafka-listener",
            "fanlog-http-listener",
            "fanlog-client",
        ],
    ),
];

/// The crates without clock, randomness, I/O, threads or async, with the only outside crates they may use.
const PURE: &[(&str, &[&str])] = &[
    ("fanlog-model", &["thiserror", "uuid"]),
    (
        "fanlog-protocol",
        &[
            "bytes",
            "crc32c",
            "flate2",
            "lz4_flex",
            "snap",
            "thiserror",
            "twox-hash",
            "uuid",
            "zstd",
        ],
    ),
    (
        "fanlog-aws-protocol",
        &["base64", "hmac", "md-5", "serde_json", "sha2", "thiserror"],
    ),
    (
        "fanlog-coordinators",
        &["bytes", "regex", "serde_json", "thiserror", "uuid"],
    ),
];

/// The only crates that may draw randomness or touch files and sockets directly.
const DOORS: &[(&str, &[&str])] = &[
    ("getrandom", &["fanlog-environment"]),
    (
        "rustix",
        &[
            "fanlog-environment",
            "fanlog-kafka-listener",
            "fanlog",
            "fanlog-bench",
            "xtask",
        ],
    ),
    ("socket2", &["fanlog-kafka-listener"]),
    ("axum", &["fanlog-http-listener"]),
    // SNS sends to endpoints (`aws/src/sns/post.rs`).
    ("hyper", &["fanlog-aws", "fanlog-http-listener", "fanlog"]),
    ("tokio-rustls", &["fanlog-aws"]),
    ("clap", &["fanlog", "fanlog-bench"]),
];

struct Package {
    name: String,
    dependencies: Vec<Dependency>,
}

struct Dependency {
    name: String,
    is_for_tests_only: bool,
    features: Vec<String>,
}

fn workspace() -> Vec<Package> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--no-deps"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs this test, so it can be started");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo prints JSON");
    list(&metadata["packages"])
        .map(|package| Package {
            name: text(&package["name"]),
            dependencies: list(&package["dependencies"])
                .map(|dependency| Dependency {
                    name: text(&dependency["name"]),
                    is_for_tests_only: dependency["kind"] == "dev",
                    features: list(&dependency["features"]).map(text).collect(),
                })
                .collect(),
        })
        .collect()
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().expect("an array").iter()
}

fn text(value: &Value) -> String {
    value.as_str().expect("a string").to_owned()
}

#[test]
fn dependencies_point_down_the_map_only() {
    let allowed: BTreeMap<_, _> = ALLOWED.iter().copied().collect();
    let packages = workspace();
    for package in packages.iter().filter(|package| package.name != "xtask") {
        let may_use = allowed.get(package.name.as_str()).unwrap_or_else(|| {
            panic!(
                "{} has no place in the order: add it to {} and to ARCHITECTURE.md",
                package.name,
                file!()
            )
        });
        for dependency in &package.dependencies {
            let is_ours = packages.iter().any(|other| other.name == dependency.name);
            assert!(
                !is_ours || may_use.contains(&dependency.name.as_str()),
                "{} may not depend on {}: dependencies point down the map only",
                package.name,
                dependency.name
            );
        }
    }
}

#[test]
fn the_order_itself_has_no_cycle() {
    for (position, (name, may_use)) in ALLOWED.iter().enumerate() {
        for used in *may_use {
            let used_at = ALLOWED.iter().position(|(other, _)| other == used);
            assert!(
                used_at.is_some_and(|at| at < position),
                "{name} uses {used}, which stands below it in the list"
            );
        }
    }
}

#[test]
fn pure_crates_use_nothing_that_reaches_the_world() {
    let packages = workspace();
    for (name, outside) in PURE {
        let package = packages
            .iter()
            .find(|package| package.name == *name)
            .unwrap_or_else(|| panic!("no crate {name}"));
        for dependency in &package.dependencies {
            if dependency.is_for_tests_only || dependency.name.starts_with("fanlog-") {
                continue;
            }
            assert!(
                outside.contains(&dependency.name.as_str()),
                "{name} is pure and may not depend on {}",
                dependency.name
            );
            let draws = |feature: &String| matches!(feature.as_str(), "v1" | "v4" | "v7" | "rng");
            assert!(
                !dependency.features.iter().any(draws),
                "{name} is pure: no random ids from {}",
                dependency.name
            );
        }
    }
}

#[test]
fn sockets_files_and_randomness_come_in_by_their_doors() {
    for package in workspace() {
        for dependency in package.dependencies.iter().filter(|d| !d.is_for_tests_only) {
            let door = DOORS.iter().find(|(name, _)| *name == dependency.name);
            assert!(
                door.is_none_or(|(_, users)| users.contains(&package.name.as_str())),
                "{} may not depend on {}",
                package.name,
                dependency.name
            );
        }
    }
}
