//! Names of rows as R writes them, and rows that sum up others.

use mercer_readers::{Cell, Header, ReadOptions, Record};

use crate::dialects::{csv, open};

/// R gives rows names and their column none.
#[test]
fn a_header_lacks_the_name_of_row_names() {
    let rows = [("1", "Ulm", "1.5"), ("2", "Bonn", "2.5"), ("Mazda RX4", "Ulm", "3.5")];
    for separator in [",", ";", "\t", " "] {
        let quoted =
            |(name, shop, sales): &(&str, &str, &str)| format!("\"{name}\"{separator}{shop}{separator}{sales}\n");
        let below: String = rows.iter().map(quoted).collect();
        for above in ["", "# by hand\n"] {
            let text = format!("{above}\"shop\"{separator}\"sales\"\n{below}");
            for header in [Header::Detect, Header::Present] {
                let mut reader = open(&text, &ReadOptions { header, ..csv() }).unwrap();
                assert_eq!(reader.columns(), ["", "shop", "sales"], "{text}");
                let remark = reader.take_remark().map(|remark| remark.to_string()).unwrap();
                assert!(remark.contains("has one name less than the rows below have cells"), "{remark}");
                let mut record = Record::new();
                assert!(reader.next_record(&mut record).unwrap());
                assert!(record.cells().eq([Cell::Numeral(1.0, "1"), Cell::Text("Ulm"), Cell::Numeral(1.5, "1.5")]));
            }
        }
    }
    // A title may have as many words.
    let text = "Sales, May\nday,shop,amount\n2024-01-02,Ulm,1\n2024-01-03,Ulm,2\n2024-01-04,Bonn,3\n";
    assert_eq!(open(text, &csv()).unwrap().columns(), ["day", "shop", "amount"]);
    // Names are all different, and rows have one cell more, each of them.
    for text in ["shop,sales\nUlm,1,5\nBonn,2,5\nUlm,3,5\n", "shop,sales\nUlm,1,5\nBonn,2\nRegen,3,5\nHof,1,2\n"] {
        assert_ne!(open(text, &csv()).unwrap().columns(), ["", "shop", "sales"]);
    }
}

/// Spreadsheets end with one.
#[test]
fn a_row_that_sums_up_others_is_told() {
    for word in ["Total", "Grand Total:", "SUMME", "ИТОГО"] {
        let text = format!("shop,sales\nUlm,1\nBonn,2\n{word},3\nTotal,3\n");
        let mut reader = open(&text, &csv()).unwrap();
        let (mut record, mut told) = (Record::new(), Vec::new());
        while reader.next_record(&mut record).unwrap() {
            told.push(reader.take_remark().map(|remark| remark.to_string()));
        }
        let remark = format!(
            "f, line 4, column 1 (\"shop\"): \"{word}\" may mean that this row sums up others; it is read as a row like them: remove it if it does"
        );
        assert_eq!(told, [None, None, Some(remark), None]);
    }
    // What is certain is left out where that is asked for, and counted.
    let text = "shop,day,sales\nA,1,5\nA,2,6\nA Total,,11\nB,1,7\nB Total,,7\nA,Total,1\nTotal,,18\n";
    for (leave_totals, rows) in [(true, 3), (false, 7)] {
        let mut reader = open(text, &ReadOptions { leave_totals, ..csv() }).unwrap();
        assert_eq!(reader.skip_rows(u64::MAX).unwrap(), rows);
    }
    let mut reader = open(text, &ReadOptions { leave_totals: true, ..csv() }).unwrap();
    let mut record = Record::new();
    while reader.next_record(&mut record).unwrap() {}
    let first = "f, line 4, column 1 (\"shop\"): \"A Total\" sums up other rows and is left out, as are rows like it";
    assert!(reader.take_remark().map(|remark| remark.to_string()).unwrap().starts_with(first));
    let left = "4 rows that sum up others: left out, the last on line 8; --keep-totals keeps them";
    assert_eq!(
        (reader.take_remark().map(|remark| remark.to_string()), reader.left_out()),
        (None, vec![left.to_owned()])
    );
    // A category may be called so.
    let text = "sex,place,rate\nmale,Ulm,5\nfemale,Ulm,6\nTotal,Ulm,5.5\nTotal,Bonn,6.5\n";
    let mut reader = open(text, &ReadOptions { leave_totals: true, ..csv() }).unwrap();
    assert_eq!(reader.skip_rows(u64::MAX).unwrap(), 4);
    assert!(
        reader
            .take_remark()
            .map(|remark| remark.to_string())
            .unwrap()
            .contains("may mean that this row sums up others")
    );

    // So may another figure, but not among numbers and times.
    let text = "grade,day,rate\ngood,2024-05-01,5\naverage,2024-05-02,4\nbad,,3\naverage,,4\n,Mittelwert,4\n,max,5\n";
    let mut reader = open(text, &ReadOptions { leave_totals: true, ..csv() }).unwrap();
    assert_eq!(reader.skip_rows(u64::MAX).unwrap(), 4);
    assert!(reader.left_out()[0].starts_with("2 rows that sum up others: left out, the last on line 7"));

    // So is a row without names, or of all, by its numbers alone.
    let groups = "shop,month,sales\nA,1,5\nB,1,6\nC,1,.1\nAll,1,11.1\nA,2,2\nB,2,3\nAll,2,5\n,,16.1\n";
    let mut reader = open(groups, &ReadOptions { leave_totals: true, ..csv() }).unwrap();
    assert_eq!(reader.skip_rows(u64::MAX).unwrap(), 5);
    assert!(reader.left_out()[0].starts_with("3 rows that sum up others: left out, the last on line 9"));
    let named = groups.replace("All", "Total");
    let mut reader = open(&named, &ReadOptions { leave_totals: true, ..csv() }).unwrap();
    assert_eq!(reader.skip_rows(u64::MAX).unwrap(), 5);
    // Others are not: no sum, one of a single row, a name beside it, a month of its own.
    for text in [
        groups.replace("11.1", "12.1").replace(",2,5", ",2,5.5").replace("16.1", "17"),
        "shop,sales\nA,5\n,5\nAll,5\n".to_owned(),
        groups.replace("All,1", "D,1").replace("All,2", "D,2").replace(",,16.1", ",,3"),
        groups.replace("All,1", "All,7").replace("All,2", "All,9").replace(",,16.1", ",3,16.1"),
    ] {
        let mut reader = open(&text, &ReadOptions { leave_totals: true, ..csv() }).unwrap();
        reader.skip_rows(u64::MAX).unwrap();
        assert_eq!(reader.left_out(), [""; 0], "{text}");
    }

    let mut reader = open("shop,sales\ntotally,1\nTotal sales,2\n", &csv()).unwrap();
    while reader.next_record(&mut Record::new()).unwrap() {}
    assert_eq!(reader.take_remark().map(|remark| remark.to_string()), None);
}
