//! [`Anchor`]: the point of an epoch whose exact image is known.

use favard_operator::{Block, Scalar};

use crate::Memory;
use crate::error::{ErrorKind, Result};
use crate::memory::foreign;

/// The anchor of a variance-reduced map, its image, and when they were taken.
#[derive(Debug, Clone)]
pub(super) struct Anchor<T> {
    pub block: Block<T>,
    pub image: Block<T>,
    /// The tick at which both were taken; `None` while they do not belong together.
    pub taken: Option<u64>,
    epoch: u64,
}

impl<T: Scalar> Anchor<T> {
    /// None yet; to be renewed every `epoch` ticks.
    pub fn new(epoch: u64) -> Result<Self> {
        if epoch == 0 {
            let (name, need) = ("epoch", "must be at least one tick");
            return Err(ErrorKind::Parameter { name, value: 0.0, need }.into());
        }
        let empty = || Block::zeros(0, 0);
        Ok(Self { block: empty(), image: empty(), taken: None, epoch })
    }

    /// Whether an epoch starts with this tick and the anchor is not there yet.
    pub fn is_due(&self, tick: u64) -> bool {
        self.taken.is_none_or(|from| tick < from || tick - from >= self.epoch)
    }

    /// Makes room for blocks of this shape.
    pub fn fit(&mut self, shape: (usize, usize)) {
        for block in [&mut self.block, &mut self.image] {
            if block.shape() != shape {
                block.reshape(shape.0, shape.1);
            }
        }
    }

    pub fn memory(&self, name: &str, fingerprint: &[u64]) -> Memory<T> {
        let memory = Memory::of(name).counters([self.epoch]).counters(fingerprint.iter().copied());
        match self.taken {
            None => memory,
            Some(tick) => memory.counters([tick]).blocks([self.block.clone(), self.image.clone()]),
        }
    }

    pub fn restore(
        &mut self,
        memory: Memory<T>,
        name: &str,
        fingerprint: &[u64],
        rows: usize,
    ) -> Result<()> {
        let Memory { name: found, scalars, mut counters, mut blocks } = memory;
        let taken = if blocks.is_empty() { None } else { counters.pop() };
        let own = Memory::of(name).counters([self.epoch]).counters(fingerprint.iter().copied());
        Memory { name: found, scalars, counters, blocks: Vec::new() }.check_same(&own)?;
        if let (Some(image), Some(block)) = (blocks.pop(), blocks.pop()) {
            if block.rows() != rows || image.shape() != block.shape() {
                return Err(foreign("shape of the anchor", (rows, block.cols()), image.shape()));
            }
            (self.block, self.image) = (block, image);
        }
        self.taken = taken;
        Ok(())
    }
}
