//! Scratch that the caller owns.

use crate::{Block, Scalar};

/// A pool of blocks that operators borrow scratch from.
///
/// An operator takes a block, uses it, and gives it back; the next call of the same shape finds it
/// there, so that a loop of products allocates nothing after its first turn. One workspace serves
/// any number of operators, one at a time.
///
/// A block that is not given back (because of an error, say) is freed and allocated anew later:
/// nothing but that one allocation is lost.
///
/// # Example
/// ```
/// use favard_operator::Workspace;
/// let mut ws = Workspace::<f64>::new();
/// let block = ws.take(100, 8);
/// assert_eq!(block.shape(), (100, 8));
/// ws.give(block);
/// assert_eq!(ws.bytes(), 100 * 8 * 8);
/// ```
#[derive(Debug, Default)]
pub struct Workspace<T> {
    free: Vec<Block<T>>,
}

impl<T: Scalar> Workspace<T> {
    /// An empty pool.
    #[must_use]
    pub fn new() -> Self {
        Self { free: Vec::new() }
    }

    /// A block of the given shape whose entries are unspecified (those of whoever had it before).
    ///
    /// The smallest free block that is large enough is used; without one, the largest free block
    /// grows.
    #[must_use]
    pub fn take(&mut self, rows: usize, cols: usize) -> Block<T> {
        let need = Block::<T>::len_for(rows, cols);
        let fits = self.free.iter().enumerate().filter(|(_, block)| block.capacity() >= need);
        let best = fits.min_by_key(|(_, block)| block.capacity()).map(|(index, _)| index);
        let best = best.or_else(|| {
            let all = self.free.iter().enumerate();
            all.max_by_key(|(_, block)| block.capacity()).map(|(index, _)| index)
        });
        match best {
            Some(index) => {
                let mut block = self.free.swap_remove(index);
                block.reshape(rows, cols);
                block
            }
            None => Block::zeros(rows, cols),
        }
    }

    /// A block of the given shape filled with zeros.
    #[must_use]
    pub fn take_zeros(&mut self, rows: usize, cols: usize) -> Block<T> {
        let mut block = self.take(rows, cols);
        block.fill(T::zero());
        block
    }

    /// Gives a block back to the pool.
    pub fn give(&mut self, block: Block<T>) {
        self.free.push(block);
    }

    /// The memory that the free blocks hold.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.free.iter().map(|block| block.capacity() * size_of::<T>()).sum()
    }
}
