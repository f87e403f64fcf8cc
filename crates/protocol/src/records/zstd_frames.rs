//! zstd frames, one after the other.
//!
//! Owns: the decoder's tables and window, kept from one batch to the next while they are small.
//! In -> out: what stands after a batch's header -> its content, or what is wrong with it.
//! Invariants: OPS-1.

use super::output::{KEPT_BYTES_MAX, Output, Refused};
use zstd::zstd_safe::{self, DCtx, DParameter, InBuffer, OutBuffer, ResetDirective};

/// A decoder, made when the first frame comes.
pub(super) struct Decoder(Option<DCtx<'static>>);

impl Decoder {
    pub(super) const fn new() -> Self {
        Self(None)
    }

    /// Gives back what a large window took.
    pub(super) fn trim(&mut self) {
        self.0.take_if(|context| context.sizeof() > KEPT_BYTES_MAX);
    }

    /// Decompresses every frame. After a frame that is refused the next batch begins with a new decoder.
    pub(super) fn decompress(
        &mut self,
        compressed: &[u8],
        output: &mut Output,
    ) -> Result<(), Refused> {
        let mut context = match self.0.take() {
            Some(context) => context,
            None => DCtx::try_create().ok_or("no memory for a decoder")?,
        };
        // A frame names the window it needs, and the decoder reserves it: address space, which becomes memory only as output
        // comes. Never more than the output may be, but always what the usual levels ask for (8 MiB).
        let window_log = output.limit().max(1).ilog2().clamp(23, 27);
        context
            .reset(ResetDirective::SessionOnly)
            .and_then(|_| context.set_parameter(DParameter::WindowLogMax(window_log)))
            .map_err(failed)?;
        // The library compares at the frame's end only; whoever asked how much may come must not wait for more than that.
        let claimed = bytes_max(compressed);
        let mut input = InBuffer::around(compressed);
        loop {
            let mut room = OutBuffer::around(output.step());
            let left = context.decompress_stream(&mut room, &mut input);
            let (left, written) = (left.map_err(failed)?, room.pos());
            output.advance(written)?;
            if claimed.is_some_and(|claimed| output.filled().len() > claimed) {
                return Err("the frame holds more than it claims".into());
            }
            let is_read = input.pos == compressed.len();
            if is_read && left == 0 {
                self.0 = Some(context);
                return Ok(());
            }
            if is_read && written == 0 {
                return Err("the frame is cut".into());
            }
        }
    }

    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        self.0.as_ref().map_or(0, DCtx::sizeof)
    }
}

/// What one frame claims to hold; nothing where it makes no claim, isn't whole, or isn't the only one.
pub(super) fn bytes_max(compressed: &[u8]) -> Option<usize> {
    let bytes = zstd_safe::get_frame_content_size(compressed).ok()??;
    let frame = zstd_safe::find_frame_compressed_size(compressed).ok()?;
    if frame == compressed.len() {
        usize::try_from(bytes).ok()
    } else {
        None
    }
}

fn failed(code: usize) -> Refused {
    zstd_safe::get_error_name(code).into()
}
