//! What was saved goes on bit for bit.
#![cfg(feature = "serde")]

use mercer_core::Validate;
use mercer_watch::{Change, ChangeParams, Novelty, NoveltyParams, RiseParams, Rises};
use serde::{Serialize, de::DeserializeOwned};

use crate::streams::autoregression;

fn reread<T: Serialize + DeserializeOwned + Validate>(value: &T) -> T {
    let bytes = postcard::to_allocvec(value).expect("it can be saved");
    let read: T = postcard::from_bytes(&bytes).expect("it can be read");
    assert_eq!(read.validate(), Ok(()));
    read
}

#[test]
fn they_resume_to_the_bit_from_every_stage() {
    let mut rows = autoregression(3, 2600, 3, 0.7);
    rows[2000..].iter_mut().for_each(|row| row[1] += 6.0);
    for cut in [100, 513, 600, 1500, 2100] {
        let mut change = Change::new(3, ChangeParams::default()).expect("parameters in range");
        let mut rises = Rises::new(RiseParams::default()).expect("parameters in range");
        let mut novelty = Novelty::new(3, NoveltyParams::default()).expect("parameters in range");
        let mut told = false;
        for row in &rows[..cut] {
            change.learn(row).expect("three columns");
            rises.learn(row[1].abs());
            novelty.learn(row).expect("three columns");
        }
        let (mut change2, mut rises2, mut novelty2) = (reread(&change), reread(&rises), reread(&novelty));
        for row in &rows[cut..] {
            let alarm = change.learn(row);
            told |= matches!(alarm, Ok(Some(_)));
            assert_eq!(alarm, change2.learn(row));
            assert_eq!(change.evidence().to_bits(), change2.evidence().to_bits());
            assert_eq!(rises.learn(row[1].abs()), rises2.learn(row[1].abs()));
            assert_eq!(novelty.learn(row), novelty2.learn(row));
        }
        assert!(told || cut > 2000);
    }
}
