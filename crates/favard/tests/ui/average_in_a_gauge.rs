use favard::prelude::*;

fn main() {
    let op = Diagonal::new(vec![1.0, 2.0]).unwrap();
    let start = Block::column(&[1.0, 1.0]);
    let engine = Engine::new(Exact::new(op).unwrap(), Power, start).unwrap().with_gauge(Norm);
    let _ = engine.with_readout(Average::new(0));
}
