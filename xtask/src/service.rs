//! The service starts and answers; and the texts about it hold: the systemd unit and the container
//! file with their arguments, and the OpenAPI document with its promises.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use tempfile::TempDir;
use xshell::{Shell, cmd};

use crate::browser;
use crate::faults::client::{Service, get, post};
use crate::product::{self, DriftStream};
use crate::tools;

const UNIT: &str = "docs/serving/mercer.service";
const CONTAINER: &str = "docs/serving/Containerfile";

/// The service starts with a model, answers, and ends when it is told to.
///
/// # Errors
/// If it does not.
pub(crate) fn answers(shell: &Shell) -> Result<()> {
    let (mercer, folder) = with_model(shell)?;
    let service = Service::start(&mercer, folder.path(), "--model m.mercer")?;
    let (status, _) = get(service.address, "/health")?;
    ensure!(status == 200, "/health answers {status}");
    service.end()
}

/// The service keeps what its document promises, and starts as the unit and the container say.
///
/// # Errors
/// If the unit is not one, or the service does not hold what its document promises.
pub(crate) fn contract(shell: &Shell) -> Result<()> {
    let (mercer, folder) = with_model(shell)?;
    let folder = folder.path();
    if let Some(verify) = tools::on_path("systemd-analyze") {
        // The program that it starts must be there.
        let unit = folder.join("mercer.service");
        fs::write(&unit, shell.read_file(UNIT)?.replace("/usr/local/bin/mercer", "/bin/true"))?;
        cmd!(shell, "{verify} verify {unit}").quiet().run()?;
    } else {
        println!("contract: the unit is not looked at: systemd-analyze is not installed");
    }
    for started in [of_unit(&shell.read_file(UNIT)?)?, of_container(&shell.read_file(CONTAINER)?)?] {
        starts(&mercer, folder, &started)?;
    }
    let Some(program) = tools::from_pypi(shell, "schemathesis", "4.32.5") else {
        return tools::skipped("contract", "schemathesis");
    };
    let service = Service::start(&mercer, folder, "--model m.mercer")?;
    let document = format!("http://{}/openapi.json", service.address);
    client(shell, folder, &service)?;
    let checks = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance";
    let _place = shell.push_dir(folder);
    cmd!(shell, "{program} run {document} --checks {checks} --max-examples 50 --seed 1 --no-color")
        .quiet()
        .ignore_stdout()
        .run()?;
    service.end()
}

/// The page of the service in a browser: rows with groups and a challenger, a series, and several
/// targets.
///
/// # Errors
/// If the page does not tell what the service answers, or has something wrong with it.
pub(crate) fn page(shell: &Shell) -> Result<()> {
    let (mercer, folder) = with_model(shell)?;
    let place = shell.push_dir(folder.path());
    let train = "--kernel gaussian:0.7 --intervals 0.9 --quiet";
    for (learner, out) in [("krls", "rows.mercer"), ("klms", "other.mercer")] {
        let words = train.split(' ');
        cmd!(shell, "{mercer} train rows.csv --learner {learner} {words...} --out {out}").quiet().run()?;
    }
    let month = |at: i32| format!("{}-{:02},{:.2}\n", 2001 + at / 12, at % 12 + 1, f64::from(at * 7 % 12 + at));
    fs::write(folder.path().join("series.csv"), "month,sales\n".to_owned() + &(0..96).map(month).collect::<String>())?;
    let words = "--season 12 --steps 10 --intervals 0.8 --quiet".split(' ');
    cmd!(shell, "{mercer} forecast series.csv {words...} --out series.mercer").quiet().ignore_stdout().run()?;
    let words = "--target d,y --learner krls --kernel gaussian:0.7 --quiet".split(' ');
    cmd!(shell, "{mercer} train rows.csv {words...} --out targets.mercer").quiet().run()?;
    drop(place);
    fs::create_dir(folder.path().join("groups"))?;
    let rows = "--model rows.mercer --shadow other.mercer --groups groups --journal rows.journal";
    let start = |words: &str| Service::start(&mercer, folder.path(), words);
    let (rows, series, targets) = (start(rows)?, start("--model series.mercer")?, start("--model targets.mercer")?);
    // The test of the difference wants thirty rows.
    let rows_text = fs::read_to_string(folder.path().join("rows.csv"))?;
    for line in rows_text.lines().skip(1).take(40) {
        let (status, told) = post(rows.address, "/learn", &format!("{{\"row\":[{line}]}}"))?;
        ensure!(status == 200, "a row is not learnt: {told}");
    }
    browser::service(&[rows.address, series.address, targets.address])?;
    targets.end()?;
    series.end()?;
    rows.end()
}

/// A client that is made of the document learns and predicts, and one that speaks in tensors does.
const CLIENT: &str = r#"
import httpx, sys
from mercer_service_client import Client, models
from mercer_service_client.api.default import health, learn, predict, v2_infer, v2_model
client = Client(base_url=sys.argv[1])
row = [0.1, 0.2, 0.3, 0.4]
one = predict.sync(client=client, body=models.PredictRequestOfRow(row=row))
named = models.RowByName(**dict(zip("abcd", row)))
assert predict.sync(client=client, body=models.PredictRequestOfRow(row=named)) == one
learnt = learn.sync(client=client, body=models.LearnRequestOfRows(rows=[row + [0.5]]))
assert abs(learnt.predictions[0].prediction - one.prediction) < 1e-9 and learnt.rows == 51, learnt
assert health.sync(client=client).rows == 51
tensor = {"name": "input", "shape": [1, 4], "datatype": "FP64", "data": row}
asked = models.V2InferRequest.from_dict({"id": "7", "inputs": [tensor], "outputs": [{"name": "y"}]})
answer = v2_infer.sync(client=client, body=asked)
assert answer.id == "7" and abs(answer.outputs[0].data[0] - one.prediction) < 1, answer
assert [of.name for of in v2_model.sync(client=client).inputs] == list("abcd")
told = httpx.post(sys.argv[1] + "/v2/models/m/infer", json={"inputs": [tensor]}).json()
assert abs(told["outputs"][0]["data"][0] - one.prediction) < 1, told
"#;

fn client(shell: &Shell, folder: &Path, service: &Service) -> Result<()> {
    let Some(generate) = tools::from_pypi(shell, "openapi-python-client", "0.29.1") else {
        return tools::skipped("contract: a client", "openapi-python-client");
    };
    let _place = shell.push_dir(folder);
    let url = format!("http://{}", service.address);
    let said =
        cmd!(shell, "{generate} generate --url {url}/openapi.json --output-path client --overwrite").quiet().read()?;
    ensure!(!said.contains("WARNING"), "a client is made with warnings: {said}");
    let python = generate.with_file_name("python");
    fs::write(folder.join("ask.py"), CLIENT)?;
    let _path = shell.push_env("PYTHONPATH", folder.join("client"));
    Ok(cmd!(shell, "{python} ask.py {url}").quiet().run()?)
}

/// The command as the tests have built it, and a folder with a model that it has learnt.
fn with_model(shell: &Shell) -> Result<(PathBuf, TempDir)> {
    let folder = tempfile::tempdir()?;
    let mercer = product::tested()?;
    let mut rows = b"a,b,c,d,y\n".to_vec();
    let mut stream = DriftStream::new(4);
    (0..50).try_for_each(|_| stream.write(&mut rows))?;
    fs::write(folder.path().join("rows.csv"), rows)?;
    let _place = shell.push_dir(folder.path());
    cmd!(shell, "{mercer} train rows.csv --learner krls --kernel gaussian:0.7 --quiet --out m.mercer").quiet().run()?;
    Ok((mercer, folder))
}

/// Arguments that the unit starts the program with.
fn of_unit(text: &str) -> Result<String> {
    let (_, rest) = text.split_once("ExecStart=").context("a unit starts something")?;
    let lines = rest.lines().map(|line| (line.trim_end_matches('\\'), line.ends_with('\\')));
    let more = lines.clone().take_while(|(_, goes_on)| *goes_on).count();
    Ok(lines.take(more + 1).flat_map(|(line, _)| line.split_whitespace()).skip(1).collect::<Vec<_>>().join(" "))
}

/// Arguments that the container starts the program with.
fn of_container(text: &str) -> Result<String> {
    let mut words = Vec::new();
    for list in ["ENTRYPOINT ", "CMD "].map(|name| text.lines().find_map(|line| line.strip_prefix(name))) {
        words.extend(serde_json::from_str::<Vec<String>>(list.context("a container starts something")?)?);
    }
    Ok(words.split_off(1).join(" "))
}

/// Starts the service with these arguments, in a folder that has the model and in place of the
/// address that they name.
fn starts(mercer: &Path, folder: &Path, arguments: &str) -> Result<()> {
    let place = folder.join("started");
    fs::create_dir_all(place.join("rescue"))?;
    fs::copy(folder.join("m.mercer"), place.join("model.mercer"))?;
    let mut words: Vec<String> = arguments.split(' ').map(str::to_owned).collect();
    for word in words.iter_mut().filter(|word| word.starts_with('/')) {
        let name = Path::new(word).file_name().context("a path has a name")?;
        *word = place.join(name).display().to_string();
    }
    let address = words.iter().position(|word| word == "--addr").context("a service has an address")?;
    words.drain(address..=address + 1);
    if let Some(probes) = words.iter().position(|word| word == "--health-addr") {
        words[probes + 1] = "127.0.0.1:0".to_owned();
    }
    ensure!(words[0] == "serve", "{arguments}: is no service");
    let service = Service::start_with(mercer, &place, &words[1..].join(" "), Some("s3cret"))?;
    // Both want the token for every path.
    ensure!(get(service.address, "/health")?.0 == 401, "{arguments}: is open to everybody");
    service.end()?;
    Ok(fs::remove_dir_all(place)?)
}
