//! Learners of tokens against their definitions, and rows with tokens.

use mercer_core::Validate;
use mercer_learners::{
    Coin, CoinParams, DiagonalKalman, DiagonalKalmanParams, Error, Input, Krls, KrlsParams, Loss, Mixture, Pairs,
    PairsParams, Regressor, RegressorExt, Scratch, Target, Token, TokenRow, column_key, predict_input,
};
use mercer_testkit::oracle::{self, TokenExample};

use crate::common::{TestResult, agree};

/// Rows of three to eight of 40 tokens; of each six, one has weight 0 and one 2.5.
fn stream(rows: usize, outputs: usize, signs: bool) -> Vec<TokenExample> {
    let mut state = 11_u64;
    let mut next = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let mut example = |t: usize| {
        let mut tokens: Vec<(usize, f64)> = Vec::new();
        for _ in 0..3 + next(6) {
            let token = (next(40).min(next(40))) as usize;
            if tokens.iter().all(|(known, _)| *known != token) {
                tokens.push((token, (1.0 + next(100) as f64) / 50.0));
            }
        }
        let truth = |k: usize| tokens.iter().map(|(token, x)| ((token * (k + 3)) as f64).sin() * x).sum::<f64>();
        let noise = next(1000) as f64 / 2000.0;
        let y = (0..outputs).map(truth).map(|y| if signs { 1_f64.copysign(y) } else { y + noise }).collect();
        TokenExample { tokens, y, weight: [1.0, 1.0, 0.0, 1.0, 2.5, 0.3][t % 6] }
    };
    (0..rows).map(&mut example).collect()
}

/// Tokens of rows that are learnt.
fn distinct(rows: &[TokenExample]) -> usize {
    let all = rows.iter().filter(|row| row.weight > 0.0).flat_map(|row| row.tokens.iter().map(|(token, _)| *token));
    all.collect::<std::collections::HashSet<_>>().len()
}

/// The same rows with the token that all rows have.
fn with_bias(stream: &[TokenExample]) -> Vec<TokenExample> {
    let bias = |row: &TokenExample| {
        let tokens = std::iter::once((0, 1.0)).chain(row.tokens.iter().map(|(token, x)| (token + 1, *x))).collect();
        TokenExample { tokens, ..row.clone() }
    };
    stream.iter().map(bias).collect()
}

fn fill(row: &mut TokenRow, tokens: &[(usize, f64)]) {
    let all = || tokens.iter().map(|(token, value)| Token { key: column_key(*token as u64), value: *value });
    row.fill(|[texts, _, factors]| {
        texts.extend(all());
        factors.extend(all());
    });
}

/// Learns the rows as tokens and, where `columns` is told, as numbers of so many columns.
fn learn(learner: &mut impl Regressor, stream: &[TokenExample], columns: Option<usize>) -> Result<Vec<f64>, Error> {
    let (mut row, mut made, mut scratch) = (TokenRow::default(), Vec::new(), Scratch::default());
    for example in stream {
        let mut numbers = vec![0.0; columns.unwrap_or(0)];
        fill(&mut row, &example.tokens);
        if columns.is_some() {
            example.tokens.iter().for_each(|(token, x)| numbers[*token] = *x);
        }
        let input = Input { numbers: &numbers, tokens: columns.is_none().then_some(&row) };
        let mut scores = [vec![0.0; learner.outputs()], vec![0.0; learner.outputs()]];
        predict_input(learner, input, &mut scratch, &mut scores[0])?;
        learner.learn_input(input, Target::weighted(&example.y, example.weight), &mut scores[1])?;
        assert!(scores[0] == scores[1], "predict differs from the prequential step");
        made.extend_from_slice(&scores[1]);
    }
    Ok(made)
}

#[test]
fn coin_equals_its_definition() -> TestResult {
    for (loss, outputs) in [("squared", 1), ("squared", 3), ("logistic", 1), ("logistic", 2), ("huber:0.3", 1)] {
        let rows = stream(600, outputs, loss == "logistic");
        let expected = oracle::coin(&with_bias(&rows), loss, 1.5, false);
        let params = CoinParams::default().loss(loss.parse()?).outputs(outputs).reach(1.5);
        let made = learn(&mut Coin::new(0, params)?, &rows, None)?;
        agree(&format!("tokens, {loss}"), &made, &expected, 1e-12);
        let mut learner = Coin::new(40, params)?;
        let made = learn(&mut learner, &rows, Some(40))?;
        agree(&format!("columns, {loss}"), &made, &expected, 1e-12);
        assert_eq!((learner.dictionary_size(), learner.validate()), (distinct(&rows) + 1, Ok(())));
    }
    Ok(())
}

#[test]
fn pairs_equal_their_definition() -> TestResult {
    for (loss, outputs) in [("squared", 1), ("logistic", 2)] {
        let rows = stream(400, outputs, loss == "logistic");
        let expected = oracle::coin(&oracle::products(&rows), loss, 3.0, true);
        let params = PairsParams::default().loss(loss.parse()?).outputs(outputs);
        let made = learn(&mut Pairs::new(0, params)?, &rows, None)?;
        agree(&format!("tokens, {loss}"), &made, &expected, 1e-12);
        let made = learn(&mut Pairs::new(40, params)?, &rows, Some(40))?;
        agree(&format!("columns, {loss}"), &made, &expected, 1e-12);
    }
    Ok(())
}

#[test]
fn diagonal_kalman_equals_its_definition() -> TestResult {
    for (loss, outputs) in [(Loss::SQUARED, 1), (Loss::SQUARED, 3), (Loss::LOGISTIC, 1), (Loss::LOGISTIC, 3)] {
        let classes = loss == Loss::LOGISTIC;
        let rows = stream(600, outputs, classes);
        let expected = oracle::diagonal_kalman(&with_bias(&rows), classes);
        let params = DiagonalKalmanParams::default().loss(loss).outputs(outputs);
        let made = learn(&mut DiagonalKalman::new(0, params)?, &rows, None)?;
        agree(&format!("tokens, {loss}"), &made, &expected, 1e-12);
        let made = learn(&mut DiagonalKalman::new(40, params)?, &rows, Some(40))?;
        agree(&format!("columns, {loss}"), &made, &expected, 1e-12);
    }
    Ok(())
}

/// Rows with more products than are taken: none of a row of tokens, and columns are refused.
#[test]
fn products_are_bounded() -> TestResult {
    let rows = stream(50, 1, false);
    let params = PairsParams::default().most(1);
    let made = learn(&mut Pairs::new(0, params)?, &rows, None)?;
    assert!(made.iter().all(|made| *made == 0.0));
    let refused = Pairs::new(40, params)?.update(&[1.0; 40], 1.0);
    assert!(matches!(&refused, Err(Error::Parameter(error)) if error.name == "most"), "{refused:?}");
    Ok(())
}

/// Keys that come when the table is full share places; those met before go on as if it were not.
#[test]
fn memory_is_bounded() -> TestResult {
    let (mut small, mut large) =
        (Coin::new(0, CoinParams::default().places(64))?, Coin::new(0, CoinParams::default())?);
    let known: Vec<TokenExample> = stream(300, 1, false);
    assert_eq!(learn(&mut small, &known, None)?, learn(&mut large, &known, None)?);
    let late = |t: usize| TokenExample { tokens: vec![(100 + t, 1.0)], y: vec![1.0], weight: 1.0 };
    let late: Vec<TokenExample> = (0..2000).map(late).collect();
    learn(&mut small, &late, None)?;
    learn(&mut large, &late, None)?;
    assert_eq!((small.dictionary_size(), large.dictionary_size()), (64 + 4, distinct(&known) + 1 + 2000));
    assert_eq!(small.validate(), Ok(()));
    for key in (0..40).map(column_key).filter(|key| large.weight(*key, 0).is_some()) {
        assert_eq!(small.weight(key, 0), large.weight(key, 0));
    }
    Ok(())
}

/// What three shards learnt, added up, predicts their rows no worse than a learner that met them
/// in order.
#[test]
fn filters_of_shards_add_up() -> TestResult {
    let rows = stream(3000, 1, false);
    let thirds: Vec<&[TokenExample]> = rows.chunks(1000).collect();
    let new = || DiagonalKalman::new(0, DiagonalKalmanParams::default());
    let (mut all, mut merged) = (new()?, new()?);
    let made = learn(&mut all, &rows, None)?;
    for third in thirds {
        let mut shard = new()?;
        learn(&mut shard, third, None)?;
        merged.merge(&shard)?;
    }
    assert_eq!((merged.dictionary_size(), merged.validate()), (all.dictionary_size(), Ok(())));
    let again = learn(&mut merged, &rows, None)?;
    let loss = |made: &[f64]| -> f64 { made.iter().zip(&rows).map(|(z, row)| (z - row.y[0]).powi(2)).sum() };
    assert!(loss(&again) < 1.02 * loss(&made), "{} against {}", loss(&again), loss(&made));
    let other = DiagonalKalman::new(0, DiagonalKalmanParams::default().outputs(2))?;
    assert!(merged.merge(&other).is_err());
    Ok(())
}

/// A mixture hands tokens to the members that take them, and numbers to the others.
#[test]
fn members_of_a_mixture_take_tokens() -> TestResult {
    let rows: Vec<TokenExample> = stream(300, 1, false).into_iter().filter(|row| row.weight > 0.0).collect();
    let krls = Krls::new(mercer_kernels::Gaussian::new(1.0)?, 0, KrlsParams::default().lambda(0.1));
    let members: [(String, Box<dyn Regressor>); 2] =
        [("coin".to_owned(), Box::new(Coin::new(0, CoinParams::default())?)), ("krls".to_owned(), Box::new(krls?))];
    let mut mixture = Mixture::new(members, mercer_experts::Rule::MlPoly)?;
    assert!(mixture.tokens().is_some() && mixture.variance().is_none());
    let made = learn(&mut mixture, &rows, None)?;
    let alone = learn(&mut Coin::new(0, CoinParams::default())?, &rows, None)?;
    let loss = |made: &[f64]| -> f64 { made.iter().zip(&rows).map(|(z, row)| (z - row.y[0]).powi(2)).sum() };
    let mean = vec![0.0; rows.len()];
    assert!(loss(&made) < 0.6 * loss(&mean), "{} {} {}", loss(&made), loss(&alone), loss(&mean));
    Ok(())
}
