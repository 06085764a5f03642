//! Times.
fn main() {
    for path in std::env::args().skip(1) {
        for _ in 0..3 {
            let t = std::time::Instant::now();
            let m = favard_io::read::<f64>(&path).unwrap();
            println!("{path} {:?} {} {:?}", m.matrix.shape(), m.matrix.entries(), t.elapsed());
        }
    }
}
