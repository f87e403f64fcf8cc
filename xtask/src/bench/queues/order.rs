//! A million messages of 100,000 keys, 64 consumers over HTTP; a hundredth part of the keys fails five times.

use super::{Options, PARTITIONS, Section, Tools, figure, median, shown};
use crate::compat::broker::End;
use crate::shell::step;

const RECORDS: u64 = 1_000_000;
const KEYS: u64 = 100_000;
const FAILURES: &str = "5";
/// What healthy keys must keep of their rate.
const KEPT_MIN: f64 = 0.90;
/// What must not be.
const AMISS: [&str; 5] = [
    "out_of_order",
    "shared_keys",
    "twice",
    "refused",
    "queue_depth",
];

/// Without failures and with them, in turns, each on a queue of its own over the same topic.
pub(super) fn measure(tools: &Tools, options: &Options) -> anyhow::Result<Section> {
    const TOPIC: &str = "ordered";
    let (records, keys) = (options.count(RECORDS), options.count(KEYS));
    let mut broker = tools.start_fanlog()?;
    let keys_text = keys.to_string();
    let process = broker.process_id().unwrap_or_default().to_string();
    tools.fill(&broker, TOPIC, records, &["--keys", &keys_text])?;
    let run = |queue: &str, failures: &str| {
        let records = records.to_string();
        let at = ["--http", broker.http(), "--queue", queue];
        let topic = ["--topic", TOPIC, "--partitions", PARTITIONS];
        let load = ["--records", &records, "--keys", &keys_text];
        let how = ["--failures", failures];
        let process = ["--broker-process", &process];
        let arguments = [
            &["queue", "ordered"][..],
            &at,
            &topic,
            &load,
            &how,
            &process,
        ]
        .concat();
        let found = step(&format!("{queue}: {records} messages"), || {
            tools.load(&arguments)
        })?;
        for (name, value) in &found {
            print!("  {name} {value:.1}");
        }
        println!();
        anyhow::Ok(found)
    };
    run("warm-up", "0")?;
    let (mut without, mut with) = (Vec::new(), Vec::new());
    let mut seconds = [Vec::new(), Vec::new()];
    let mut cpu = [Vec::new(), Vec::new()];
    let mut nacks = Vec::new();
    let mut missed = Vec::new();
    for round in 1..=options.rounds {
        // Whatever the first does to the machine, the second has it from each of them in turn.
        let mut turns = [("0", "healthy"), (FAILURES, "failing")];
        if round.is_multiple_of(2) {
            turns.reverse();
        }
        for (failures, name) in turns {
            let queue = format!("{name}-{round}");
            let found = run(&queue, failures)?;
            let (rates, of) = match failures {
                "0" => (&mut without, 0),
                _ => (&mut with, 1),
            };
            rates.push(figure(&found, "healthy_per_second")?);
            seconds[of].push(figure(&found, "seconds")?);
            cpu[of].push(figure(&found, "healthy_broker_cpu_seconds")?);
            if of == 1 {
                nacks.push(figure(&found, "nacks")?);
            }
            for amiss in AMISS {
                let count = figure(&found, amiss)?;
                if count > 0.0 {
                    missed.push(format!("{queue}: {amiss} is {count}"));
                }
            }
            let acknowledged = figure(&found, "queue_acknowledged")?;
            if acknowledged != records as f64 {
                missed.push(format!(
                    "{queue}: {acknowledged} were acknowledged of {records}"
                ));
            }
        }
    }
    broker.stop(End::Terminate)?;
    let checked = match missed.is_empty() {
        true => "all of them held",
        false => "**not all of them held**",
    };
    let kept = median(&with)? / median(&without)?;
    if kept < KEPT_MIN {
        missed.push(format!("healthy keys keep {kept:.2} of their rate"));
    }
    let text = format!(
        "{records} messages of 100 B, {keys} keys, {PARTITIONS} partitions, `order=key`; 64 consumers, each on a connection that it keeps, receive up to\n\
         50 and acknowledge them in one request. Of the keys a hundredth part fails five times each (nack; backoff\n\
         `fixed:1s`, `max-attempts=20`, so that records that failed are not yet handed out in smaller batches). A queue of its own each time.\n\n\
         | | without failures | with failures |\n|---|---|---|\n\
         | messages of healthy keys a second | {} | {} |\n\
         | broker's CPU until these are done with, s | {} | {} |\n\
         | seconds until everything is done with | {} | {} |\n\
         | nacks | 0 | {} |\n\n\
         Healthy keys keep **{kept:.2}** of their rate; the goal is {KEPT_MIN:.2}. Checked while it runs: offsets of a key ascend, a key is with one consumer at a\n\
         time, each message is acknowledged once, no acknowledgement is refused, and the queue is empty in the end: {checked}.\n",
        shown(&without, 0),
        shown(&with, 0),
        shown(&cpu[0], 2),
        shown(&cpu[1], 2),
        shown(&seconds[0], 1),
        shown(&seconds[1], 1),
        shown(&nacks, 0),
    );
    Ok(Section {
        heading: "Order per key",
        text,
        missed,
    })
}
