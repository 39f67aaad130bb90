//! Rows whose labels are not there, or come later.

use crate::support::{Folder, noise};

/// Rows of a number and a target, or a text and a class; those in `without` lack it.
fn csv(without: &[u64], class: bool) -> String {
    let row = |t: u64| {
        let (x, y) = (noise(t), 3.0 * noise(t) + noise(t + 900) / 50.0);
        let target = if without.contains(&t) {
            String::new()
        } else if class {
            ["low", "high"][usize::from(y > 0.0)].to_owned()
        } else {
            y.to_string()
        };
        format!("{},{x},{target}\n", if class { ["Ulm", "Bonn"][(t % 2) as usize] } else { "1" })
    };
    (0..60).map(row).fold("a,x,y\n".to_owned(), |text, row| text + &row)
}

#[test]
fn a_row_without_a_target_is_predicted_and_not_learnt() {
    for class in [false, true] {
        let folder = Folder::new().with("t.csv", csv(&[], class)).with("part.csv", csv(&[3, 7], class));
        let learnt: String = csv(&[], class)
            .lines()
            .enumerate()
            .filter(|(at, _)| ![4, 8].contains(at))
            .map(|(_, line)| format!("{line}\n"))
            .collect();
        let folder = folder.with("known.csv", learnt);
        folder.run("train t.csv --learner krls --kernel gaussian:1 --scale standard --out m.mercer");
        std::fs::copy(folder.path("m.mercer"), folder.path("n.mercer")).unwrap();
        let part = folder.run("predict part.csv --model m.mercer --learn");
        let known = folder.run("predict known.csv --model n.mercer --learn");
        assert_eq!(part.code, Some(0), "{}", part.err);
        let lines: Vec<&str> = part.out.lines().collect();
        assert!(lines.len() == 61 && lines.iter().all(|line| !line.is_empty()), "{}", part.out);
        // The other rows are answered and learnt as if these were not there.
        let others: Vec<&str> =
            lines.iter().enumerate().filter(|(at, _)| ![4, 8].contains(at)).map(|(_, line)| *line).collect();
        assert_eq!(others, known.out.lines().collect::<Vec<_>>());
        assert!(std::fs::read(folder.path("m.mercer")).unwrap() == std::fs::read(folder.path("n.mercer")).unwrap());
        let told =
            "mercer: 2 rows without a target were predicted and not learnt, the first: part.csv, line 5 (row 4)\n";
        assert!(part.err.ends_with(told), "{}", part.err);
        assert!(!known.err.contains("without a target"), "{}", known.err);
        // A model learns from rows that have one; what is no target is no gap.
        let refused = folder.run("train part.csv --learner krls --out o.mercer");
        assert!(refused.code == Some(1) && refused.err.contains("the target is missing"), "{}", refused.err);
        if !class {
            let folder = folder.with("odd.csv", "a,x,y\n1,2,oops\n");
            let odd = folder.run("predict odd.csv --model m.mercer --learn");
            assert!(odd.code == Some(1) && odd.err.contains("\"oops\" is not a number"), "{}", odd.err);
        }
    }
}
