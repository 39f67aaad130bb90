//! The bodies of answers: whole ones, and long ones that are sent in pieces as the client takes
//! them.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::Response;
use hyper::body::{Frame, SizeHint};
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue, X_CONTENT_TYPE_OPTIONS};
use tokio::sync::mpsc::{Receiver, Sender, channel};

pub(super) type Answer = Response<Body>;

/// Bytes of a piece, and the most that are sent whole. Of an answer in pieces one is being made,
/// one waits, and one is being sent.
pub(super) const PIECE: usize = 1 << 20;

/// A piece, or why the answer is cut off.
type Piece = io::Result<Bytes>;

pub(super) enum Body {
    Whole(Option<Bytes>),
    Pieces(Receiver<Piece>),
}

impl hyper::body::Body for Body {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let piece = match self.get_mut() {
            Self::Whole(bytes) => Poll::Ready(bytes.take().map(Ok)),
            Self::Pieces(pieces) => pieces.poll_recv(context),
        };
        piece.map(|piece| piece.map(|piece| piece.map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Whole(None))
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, Bytes::len) as u64),
            Self::Pieces(_) => SizeHint::default(),
        }
    }
}

pub(super) fn whole(kind: &'static str, body: impl Into<Bytes>) -> Answer {
    with_headers(kind, Body::Whole(Some(body.into()).filter(|bytes| !bytes.is_empty())))
}

/// An answer that is yet to be made, piece by piece.
pub(super) fn pieces(kind: &'static str) -> (Sender<Piece>, Answer) {
    let (sender, pieces) = channel(1);
    (sender, with_headers(kind, Body::Pieces(pieces)))
}

fn with_headers(kind: &'static str, body: Body) -> Answer {
    let mut answer = Response::new(body);
    let headers = answer.headers_mut();
    let mut set = |name: HeaderName, value: &'static str| headers.insert(name, HeaderValue::from_static(value));
    set(CONTENT_TYPE, kind);
    set(CACHE_CONTROL, "no-store");
    set(X_CONTENT_TYPE_OPTIONS, "nosniff");
    answer
}
