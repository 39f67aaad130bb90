//! What others read of the service: the systemd unit, and the OpenAPI document with what it
//! promises.

use std::fs;

use anyhow::Result;
use xshell::{Shell, cmd};

use crate::faults::client::Service;
use crate::product::{self, DriftStream};
use crate::tools;

const UNIT: &str = "docs/serving/mercer.service";

/// # Errors
/// If the unit is not one, or the service does not hold what its document promises.
pub(crate) fn run(shell: &Shell) -> Result<()> {
    let folder = tempfile::tempdir()?;
    if let Some(verify) = tools::on_path("systemd-analyze") {
        // The program that it starts must be there.
        let unit = folder.path().join("mercer.service");
        fs::write(&unit, shell.read_file(UNIT)?.replace("/usr/local/bin/mercer", "/bin/true"))?;
        cmd!(shell, "{verify} verify {unit}").quiet().run()?;
    } else {
        println!("service: the unit is not looked at: systemd-analyze is not installed");
    }
    let Some(program) = tools::from_pypi(shell, "schemathesis", "4.32.5") else {
        return tools::skipped("service", "schemathesis");
    };
    let mercer = product::tested()?;
    let mut rows = b"a,b,c,d,y\n".to_vec();
    let mut stream = DriftStream::new(4);
    (0..50).try_for_each(|_| stream.write(&mut rows))?;
    fs::write(folder.path().join("rows.csv"), rows)?;
    let _place = shell.push_dir(folder.path());
    cmd!(shell, "{mercer} train rows.csv --learner krls --kernel gaussian:0.7 --quiet --out m.mercer").quiet().run()?;
    let service = Service::start(&mercer, folder.path(), "--model m.mercer")?;
    let document = format!("http://{}/openapi.json", service.address);
    let checks = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance";
    cmd!(shell, "{program} run {document} --checks {checks} --max-examples 50 --seed 1 --no-color")
        .quiet()
        .ignore_stdout()
        .run()?;
    service.end()
}
