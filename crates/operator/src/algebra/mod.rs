//! Operators made of other operators.

mod adjoint;
mod block_diagonal;
mod diagonal;
mod hstack;
mod identity;
mod low_rank;
mod multiple;
mod op;
mod product;
mod stack;
mod sum;
mod vstack;

pub use adjoint::Adjoint;
pub use block_diagonal::BlockDiagonal;
pub use diagonal::Diagonal;
pub use hstack::HStack;
pub use identity::Identity;
pub use low_rank::LowRank;
pub use multiple::Multiple;
pub use op::Op;
pub use product::Product;
pub use sum::Sum;
pub use vstack::VStack;
