//! [`Apart`]: workers that were asleep begin on processors of their own.
//!
//! After a while of sleep Linux may wake all workers on one processor, the others being idle: the idle
//! processors of a virtual machine do not look idle to it. There they take turns, for some 30 ms. On two
//! processors of a cloud machine, `PCA(10)` of a million entries took 27 to 32 ms a tenth of a second after
//! the one before, and 18 right behind it; with each worker bound to a processor while a job begins, it
//! takes 18 either way. (A thread that a job starts in that time would stay bound: none does.)

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod other;

#[cfg(target_os = "linux")]
pub use linux::Apart;
#[cfg(not(target_os = "linux"))]
pub use other::Apart;
