use favard::prelude::*;

fn main() {
    let op = Diagonal::new(vec![1.0, 2.0]).unwrap();
    let map = Affine::new(Exact::new(op).unwrap(), Block::zeros(2, 1)).unwrap();
    let start = Block::column(&[1.0, 1.0]);
    let _ = Engine::new(map, Power, start).unwrap().with_gauge(Norm);
}
