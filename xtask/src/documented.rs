//! Runs what the documents tell people to type, and the examples, against a broker.
//!
//! Why it exists: an example that doesn't run is worse than none.
//! In -> out: the `sh` blocks of README.md, docs/how-to.md, docs/queues.md, docs/aws.md and docs/kafka-programs.md, the demo, `examples/` -> a verdict each.
//! Never: blocks that are indented instead of fenced; those start a broker or this very command.

use crate::compat::{OwnBroker, build_fanlog};
use crate::shell::{self, Usage, step};
use crate::tally::Tally;
use crate::toolchains;
use anyhow::Context;
use std::path::Path;

/// Documents whose blocks follow one another on one broker.
const DOCUMENTS: [&str; 4] = [
    "README.md",
    "docs/how-to.md",
    "docs/queues.md",
    "docs/aws.md",
];
/// The one whose blocks want Kafka's programs beside.
const KAFKA_PROGRAMS: &str = "docs/kafka-programs.md";
const FENCE: &str = "```";
/// What a reader types to run the program from the repository.
const FROM_THE_REPOSITORY: &str = "cargo run --release -p fanlog --";
/// Long enough for the slow group to fall behind and the killed consumer's session to end.
const SALE_SECONDS: &str = "12";

/// One `sh` block and the heading above it.
#[derive(Debug, PartialEq, Eq)]
struct Block {
    heading: String,
    text: String,
}

/// Runs the command.
pub(crate) fn run_alone(args: &[String]) -> anyhow::Result<()> {
    if !args.is_empty() {
        return Err(Usage("usage: cargo xtask examples".into()).into());
    }
    let mut tally = Tally::default();
    run(&mut tally);
    tally.close()
}

/// Runs everything; each block and each example counts once.
pub(crate) fn run(tally: &mut Tally) {
    let prepared = build_fanlog(false).and_then(|program| {
        toolchains::kcat()?;
        toolchains::curl()?;
        Ok(program)
    });
    let program = match prepared {
        Ok(program) => program,
        Err(error) => return tally.fail("documented examples", &format!("{error:#}")),
    };
    for document in DOCUMENTS {
        if let Err(error) = run_document(document, &program, &[], tally) {
            tally.fail(document, &format!("{error:#}"));
        }
    }
    let kafka_programs = environment_of_kafka_programs()
        .and_then(|environment| run_document(KAFKA_PROGRAMS, &program, &environment, tally));
    if let Err(error) = kafka_programs {
        tally.fail(KAFKA_PROGRAMS, &format!("{error:#}"));
    }
    let demo = step("fanlog demo", || {
        let mut demo = shell::command(&program);
        shell::run(demo.args(["demo", "--seconds", SALE_SECONDS]))
    });
    tally.record("fanlog demo", demo);
    tally.record("examples/flash-sale", flash_sale(&program));
}

fn flash_sale(program: &Path) -> anyhow::Result<()> {
    let python = toolchains::python()?;
    let broker = OwnBroker::start(program, "flash-sale")?;
    step("examples/flash-sale", || {
        let mut sale = shell::command(python);
        sale.args([
            "examples/flash-sale/flash_sale.py",
            "--seconds",
            SALE_SECONDS,
        ]);
        shell::run(sale.args(["--bootstrap", broker.bootstrap()]))
    })?;
    broker.stop()
}

/// Kafka's scripts on the path, and the classes of Kafka Streams for Java.
fn environment_of_kafka_programs() -> anyhow::Result<Vec<(&'static str, String)>> {
    let scripts = toolchains::kafka_scripts()?;
    let path = std::env::var("PATH").context("PATH")?;
    Ok(vec![
        ("PATH", format!("{}:{path}", scripts.display())),
        ("CLASSPATH", toolchains::streams()?),
        (
            "JAVA_TOOL_OPTIONS",
            "-Xmx384m -Dorg.slf4j.simpleLogger.defaultLogLevel=warn".to_owned(),
        ),
    ])
}

fn run_document(
    document: &str,
    program: &Path,
    environment: &[(&str, String)],
    tally: &mut Tally,
) -> anyhow::Result<()> {
    let path = shell::repository().join(document);
    let text =
        std::fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
    let blocks = blocks_of(&text);
    anyhow::ensure!(!blocks.is_empty(), "{document} has no sh block to run");
    let broker = OwnBroker::start(program, "documented")?;
    for block in blocks {
        let name = format!("{document}, \"{}\"", block.heading);
        let script = script_of(&block.text, program, broker.bootstrap(), broker.http());
        let outcome = step(&name, || {
            let mut block = shell::command("bash");
            block
                .args(["-euo", "pipefail", "-c", &script])
                .envs(environment.iter().map(|(name, value)| (name, value)));
            shell::run(&mut block)
        });
        tally.record(&name, outcome);
    }
    broker.stop()
}

/// The block with this broker in place of the one at the default addresses.
fn script_of(text: &str, program: &Path, bootstrap: &str, http: &str) -> String {
    let text = text
        .replace(FROM_THE_REPOSITORY, "fanlog")
        .replace("127.0.0.1:9092", bootstrap)
        .replace("127.0.0.1:8080", http);
    let program = program.display();
    format!(
        "fanlog() {{ case \"$1 $2\" in 'queue '* | 'group status') '{program}' \"$@\" --http {http} ;; \
         *) '{program}' \"$@\" --bootstrap {bootstrap} ;; esac; }}\n{text}"
    )
}

fn blocks_of(document: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut heading = String::new();
    let mut open: Option<String> = None;
    for line in document.lines() {
        match &mut open {
            Some(text) if line.starts_with(FENCE) => {
                let text = std::mem::take(text);
                blocks.push(Block {
                    heading: heading.clone(),
                    text,
                });
                open = None;
            }
            Some(text) => {
                text.push_str(line);
                text.push('\n');
            }
            None if line.strip_prefix(FENCE) == Some("sh") => open = Some(String::new()),
            None => {
                if let Some(title) = line.strip_prefix('#') {
                    heading = title.trim_start_matches('#').trim().to_owned();
                }
            }
        }
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_fenced_sh_blocks_are_run_each_under_its_heading() {
        let document = "# A\n    not this\n```sh\none\ntwo\n```\n## B\n```text\nnot this\n```\n```sh\nthree\n```\n";
        let block = |heading: &str, text: &str| Block {
            heading: heading.into(),
            text: text.into(),
        };
        assert_eq!(
            blocks_of(document),
            [block("A", "one\ntwo\n"), block("B", "three\n")]
        );
    }

    #[test]
    fn addresses_and_program_are_those_of_the_test() {
        let script = script_of(
            "cargo run --release -p fanlog -- topic list\nkcat -b 127.0.0.1:9092\n",
            Path::new("/p/fanlog"),
            "127.0.0.1:1",
            "127.0.0.1:2",
        );
        assert!(
            script.contains("\nfanlog topic list\nkcat -b 127.0.0.1:1\n"),
            "{script}"
        );
        assert!(
            script.contains("'/p/fanlog' \"$@\" --bootstrap 127.0.0.1:1"),
            "{script}"
        );
        assert!(
            script.contains("'/p/fanlog' \"$@\" --http 127.0.0.1:2"),
            "{script}"
        );
    }
}
