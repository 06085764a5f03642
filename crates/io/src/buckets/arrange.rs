//! [`arrange`]: chunks are put in order, in place.

use rayon::prelude::*;

use super::CHUNK;

/// The most chunks that a task moves.
const STRETCH: usize = 64;

/// Chunks that move together: each takes what the next one has.
struct Stretch {
    chunks: Vec<usize>,
    /// What the last one takes: the first of them, which closes a cycle, or that of another stretch.
    then: usize,
}

/// Chunk i of the list becomes what chunk `order[i]` was.
///
/// Chunks that take each other's place are a cycle. Long ones are cut into stretches; what stands
/// behind a cut is copied first, so that all stretches move at the same time.
pub(super) fn arrange<V: Copy + Send + Sync>(list: &mut [V], order: &[u32]) {
    let stretches = stretches(order);
    let copy = |stretch: &Stretch| {
        let is_cycle = stretch.chunks.first() == Some(&stretch.then);
        (!is_cycle).then(|| list[stretch.then * CHUNK..][..CHUNK].to_vec())
    };
    let behind: Vec<_> = stretches.iter().map(copy).collect();
    let mut chunks: Vec<_> = list.chunks_exact_mut(CHUNK).map(Some).collect();
    // Each chunk is in one stretch.
    let mut take = |at: usize| chunks[at].take();
    let tasks: Vec<_> = stretches
        .into_iter()
        .map(|stretch| stretch.chunks.into_iter().filter_map(&mut take).collect::<Vec<_>>())
        .zip(behind)
        .collect();
    tasks.into_par_iter().with_max_len(1).for_each(|(mut chunks, behind)| {
        let behind = behind.unwrap_or_else(|| chunks[0].to_vec());
        for i in 1..chunks.len() {
            let (to, from) = chunks.split_at_mut(i);
            to[i - 1].copy_from_slice(from[0]);
        }
        if let Some(last) = chunks.last_mut() {
            last.copy_from_slice(&behind);
        }
    });
}

/// The stretches of all chunks that move.
fn stretches(order: &[u32]) -> Vec<Stretch> {
    let mut stretches = Vec::new();
    let mut is_done: Vec<bool> = (0..).zip(order).map(|(at, &from)| at == from).collect();
    for start in 0..order.len() {
        let mut at = start;
        while !is_done[at] {
            let mut chunks = Vec::new();
            while !is_done[at] && chunks.len() < STRETCH {
                is_done[at] = true;
                chunks.push(at);
                at = order[at] as usize;
            }
            stretches.push(Stretch { chunks, then: at });
        }
    }
    stretches
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn assert_arranged(order: &[u32]) {
        let all = |chunk: u32| (0..).map(move |i| (chunk << 16) + i).take(CHUNK);
        let mut list: Vec<u32> = (0..).take(order.len()).flat_map(all).collect();
        arrange(&mut list, order);
        let wanted: Vec<u32> = order.iter().copied().flat_map(all).collect();
        assert!(list == wanted, "{order:?}");
    }

    /// Cycles of every length: of one chunk, shorter than a stretch, as long, longer; many at once.
    #[test]
    fn cycles_of_every_length_move() {
        for count in [0, 1, 10, STRETCH - 1, STRETCH, STRETCH + 1, 2 * STRETCH, 3 * STRETCH + 6] {
            for by in [0, 1, 2, count.saturating_sub(1)] {
                let turned = (0..count).map(|i| u32::try_from((i + by) % count).unwrap());
                assert_arranged(&turned.collect::<Vec<_>>());
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn every_order_is_reached(
            order in (0_u32..400).prop_flat_map(|n| Just((0..n).collect::<Vec<_>>()).prop_shuffle()),
        ) {
            assert_arranged(&order);
        }
    }
}
