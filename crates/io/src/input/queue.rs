//! [`Queue`]: pieces of a text, parsed in any order and handed on in theirs.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::feed::Feed;
use super::piece::Piece;

/// Pieces on their way through any number of threads: a few, which are used again and again.
pub(super) struct Queue<P> {
    /// Where they come from, and the number of the next.
    feed: Mutex<(Feed, usize)>,
    state: Mutex<State<P>>,
    changed: Condvar,
}

struct State<P> {
    /// Those that are done and wait for their turn: number i at i modulo the length.
    done: Vec<Option<Piece<P>>>,
    /// The number of the one that is handed on next.
    turn: usize,
    /// Those not in use, on top the one used last, which a cache still holds.
    free: Vec<Piece<P>>,
    /// No others are taken from the feed.
    is_over: bool,
    /// A thread panicked: what it had will not come.
    is_lost: bool,
}

/// What the thread that takes the pieces is to do.
pub(super) enum Turn<P> {
    /// It is this one's turn.
    Take(Piece<P>),
    /// This one can be parsed in the meantime.
    Parse(usize, Piece<P>),
    /// That was all.
    End,
}

impl<P: Default> Queue<P> {
    /// Nothing yet; at most so many pieces at a time.
    pub fn new(feed: Feed, most: usize) -> Self {
        let state = State {
            done: (0..most).map(|_| None).collect(),
            turn: 0,
            free: (0..most).map(|_| Piece::default()).collect(),
            is_over: false,
            is_lost: false,
        };
        Self { feed: Mutex::new((feed, 0)), state: Mutex::new(state), changed: Condvar::new() }
    }

    /// The next piece to parse and its number, as soon as there is room for it.
    pub fn next(&self) -> Option<(usize, Piece<P>)> {
        let mut state = lock(&self.state);
        loop {
            if state.is_over {
                return None;
            }
            if let Some(piece) = state.free.pop() {
                drop(state);
                return self.fill(piece);
            }
            state = self.wait(state);
        }
    }

    /// What is to be done next, by the one thread that asks this.
    pub fn turn(&self) -> Turn<P> {
        let mut state = lock(&self.state);
        loop {
            let State { done, turn, free, is_over, is_lost } = &mut *state;
            let place = *turn % done.len();
            if let Some(piece) = done[place].take() {
                *turn += 1;
                return Turn::Take(piece);
            }
            if *is_lost || *is_over && free.len() == done.len() {
                return Turn::End;
            }
            if !*is_over && let Some(piece) = free.pop() {
                drop(state);
                if let Some((number, piece)) = self.fill(piece) {
                    return Turn::Parse(number, piece);
                }
                state = lock(&self.state);
                continue;
            }
            state = self.wait(state);
        }
    }

    /// The piece with that number is parsed.
    pub fn put(&self, number: usize, piece: Piece<P>) {
        let mut state = lock(&self.state);
        let place = number % state.done.len();
        state.done[place] = Some(piece);
        drop(state);
        self.changed.notify_all();
    }

    /// The piece is not needed any more.
    pub fn free(&self, piece: Piece<P>) {
        lock(&self.state).free.push(piece);
        self.changed.notify_all();
    }

    /// Takes a piece from the feed.
    fn fill(&self, mut piece: Piece<P>) -> Option<(usize, Piece<P>)> {
        let mut feed = lock(&self.feed);
        if feed.0.fill(&mut piece) {
            feed.1 += 1;
            return Some((feed.1 - 1, piece));
        }
        drop(feed);
        lock(&self.state).is_over = true;
        self.free(piece);
        None
    }
}

impl<P> Queue<P> {
    fn wait<'g>(&self, state: MutexGuard<'g, State<P>>) -> MutexGuard<'g, State<P>> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }
}

/// A thread at work on a queue. When it ends, for whatever reason, the others do not wait for it.
pub(super) struct Worker<'q, P>(pub &'q Queue<P>);

impl<P> Drop for Worker<'_, P> {
    fn drop(&mut self) {
        let mut state = lock(&self.0.state);
        state.is_over = true;
        state.is_lost |= std::thread::panicking();
        drop(state);
        self.0.changed.notify_all();
    }
}

/// No thread panics while it holds a lock.
fn lock<V>(mutex: &Mutex<V>) -> MutexGuard<'_, V> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
