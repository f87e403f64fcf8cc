//! What the broker is started with: flags, then `--set`, then the settings file, then defaults.
//!
//! Why it exists: Kafka's names for the places (`listeners`, `log.dirs`, `node.id`) and our flags say the same thing,
//! and DescribeConfigs must show what is in force, whichever said it.

use super::{address, settings_file};
use crate::usage::UsageError;
use clap::Args;
use fanlog_model::settings::{Overrides, SettingError, check_statics};
use std::net::SocketAddr;
use std::path::PathBuf;

const DATA: &str = "fanlog-data";
const KAFKA: &str = "127.0.0.1:9092";
const NODE_ID: i32 = 1;

/// Flags of `fanlog serve`.
#[derive(Args, Debug)]
pub(crate) struct ServeArgs {
    /// Where the data lies; made if missing [default: fanlog-data]
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// Where Kafka clients connect [default: 127.0.0.1:9092]
    #[arg(long, value_name = "ADDR", value_parser = address::listen)]
    pub(crate) kafka: Option<SocketAddr>,
    /// What clients are told to connect to; without it, the address that each reached
    #[arg(long, value_name = "HOST:PORT", value_parser = address::advertised)]
    pub(crate) advertise: Option<(String, u16)>,
    /// Where /metrics and /health are served, or "off"
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8080")]
    pub(crate) http: String,
    /// Settings, a line each: name=value, as in Kafka's server.properties
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// One setting; may be repeated, and wins over the file's
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub(crate) settings: Vec<String>,
    /// This broker's number in its cluster [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i32).range(0..))]
    pub(crate) node_id: Option<i32>,
}

/// Everything that is settled before the broker starts.
#[derive(Debug)]
pub(crate) struct StartUp {
    pub(crate) data: PathBuf,
    pub(crate) kafka: SocketAddr,
    pub(crate) advertise: Option<(String, u16)>,
    pub(crate) http: Option<SocketAddr>,
    pub(crate) node_id: i32,
    pub(crate) statics: Overrides,
}

impl StartUp {
    /// Reads flags and the settings file.
    ///
    /// # Errors
    /// Every setting that is wrong, in words for whoever typed it.
    pub(crate) fn read(args: &ServeArgs) -> Result<Self, UsageError> {
        let mut statics = given_settings(args)?;
        let said = |names: &[&str]| names.iter().find_map(|name| statics.get(*name)).cloned();
        let data = args
            .data
            .clone()
            .or(said(&["log.dirs", "log.dir"]).map(PathBuf::from));
        let data = data.unwrap_or_else(|| DATA.into());
        let listeners = said(&["listeners"]);
        let kafka = match (args.kafka, &listeners) {
            (Some(flag), _) => flag,
            (None, Some(text)) => address::of_listener(text)
                .and_then(address::listen)
                .map_err(named("listeners"))?,
            (None, None) => address::listen(KAFKA).map_err(UsageError)?,
        };
        let advertise = match (&args.advertise, said(&["advertised.listeners"])) {
            (Some(flag), _) => Some(flag.clone()),
            (None, Some(text)) => {
                let read = address::of_listener(&text).and_then(address::advertised);
                Some(read.map_err(named("advertised.listeners"))?)
            }
            (None, None) => None,
        };
        let node_id = match (args.node_id, said(&["node.id", "broker.id"])) {
            (Some(flag), _) => flag,
            (None, Some(text)) => text
                .parse()
                .map_err(|_| UsageError(format!("node.id '{text}' is no number")))?,
            (None, None) => NODE_ID,
        };
        statics.remove("log.dir");
        // As DescribeLogDirs names it: whoever asks stands in another folder.
        let from_root = std::path::absolute(&data);
        let from_root =
            from_root.map_err(|error| UsageError(format!("--data {}: {error}", data.display())))?;
        statics.insert("log.dirs".into(), from_root.display().to_string());
        statics.insert(
            "listeners".into(),
            address::as_listener(&kafka.ip().to_string(), kafka.port()),
        );
        statics.insert("node.id".into(), node_id.to_string());
        statics.insert("broker.id".into(), node_id.to_string());
        if let Some((host, port)) = &advertise {
            statics.insert(
                "advertised.listeners".into(),
                address::as_listener(host, *port),
            );
        }
        let http = address::listen_or_off(&args.http).map_err(named("--http"))?;
        Ok(Self {
            data,
            kafka,
            advertise,
            http,
            node_id,
            statics,
        })
    }
}

fn named(what: &'static str) -> impl Fn(String) -> UsageError {
    move |reason| UsageError(format!("{what}: {reason}"))
}

fn given_settings(args: &ServeArgs) -> Result<Overrides, UsageError> {
    let mut given = match &args.config {
        Some(path) => settings_file::read(path).map_err(|error| UsageError(error.to_string()))?,
        None => Vec::new(),
    };
    for text in &args.settings {
        let wrong = || UsageError(format!("--set '{text}' is not of the form NAME=VALUE"));
        given.push(settings_file::pair(text).ok_or_else(wrong)?);
    }
    let pairs = given
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()));
    check_statics(pairs).map_err(|errors: Vec<SettingError>| {
        let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
        UsageError(lines.join("\n"))
    })
}
