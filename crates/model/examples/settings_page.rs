//! Prints `docs/settings.md`: `cargo run -q -p fanlog-model --example settings_page > docs/settings.md`.

fn main() {
    print!("{}", fanlog_model::settings::settings_page());
}
