//! Redrives in the background: start, list, show, cancel.

use crate::answers;
use crate::context::{Context, InPath, group_id};
use crate::dead::{redrive_of, with_own};
use crate::fields::Fields;
use crate::problem::Problem;
use axum::extract::{Request, State};
use axum::response::Response;
use fanlog_broker::RedriveJob;
use serde_json::{Value, json};

/// POST /v1/queues/{queue}/dead/redrives
pub(crate) async fn start(
    State(context): State<Context>,
    InPath(name): InPath<String>,
    request: Request,
) -> Result<Response, Problem> {
    let redrive = redrive_of(&context, request).await?;
    if redrive.is_dry_run {
        let detail = "a redrive in the background is no dry run; ask POST /v1/queues/{queue}/dead/redrive for one";
        return Err(Problem::of_field("dry_run", detail));
    }
    let queue = with_own(&context, &name)?;
    let queues = context.broker.queues();
    let (job, _) = queues.start_redrive(&queue, redrive).await?;
    answers::created(&shown(&job))
}

/// GET /v1/queues/{queue}/dead/redrives
pub(crate) async fn list(
    State(context): State<Context>,
    InPath(name): InPath<String>,
    request: Request,
) -> Result<Response, Problem> {
    Fields::of_query(request.uri())?.done()?;
    let jobs = context.broker.queues().redrive_jobs(&group_id(&name))?;
    let jobs: Vec<_> = jobs.iter().map(shown).collect();
    answers::ok(&json!({ "redrives": jobs }))
}

/// GET /v1/queues/{queue}/dead/redrives/{redrive}
pub(crate) async fn show(
    State(context): State<Context>,
    InPath((name, id)): InPath<(String, String)>,
    request: Request,
) -> Result<Response, Problem> {
    Fields::of_query(request.uri())?.done()?;
    let job = context.broker.queues().redrive_job(&group_id(&name), &id)?;
    answers::ok(&shown(&job))
}

/// DELETE /v1/queues/{queue}/dead/redrives/{redrive}
pub(crate) async fn cancel(
    State(context): State<Context>,
    InPath((name, id)): InPath<(String, String)>,
    request: Request,
) -> Result<Response, Problem> {
    Fields::of_query(request.uri())?.done()?;
    let queues = context.broker.queues();
    let job = queues.cancel_redrive(&group_id(&name), &id).await?;
    answers::ok(&shown(&job))
}

fn shown(job: &RedriveJob) -> Value {
    json!({
        "redrive": job.id.to_string(),
        "state": job.state.name(),
        "rate": job.rate,
        "moved": job.moved,
        "to_move": job.to_move,
        "started": answers::time(job.started),
        "ended": job.ended.and_then(answers::time),
        "reason": job.reason,
    })
}
