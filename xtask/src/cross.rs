//! Compilers of other processors, and `cargo xtask aarch64`, which tests on one that is emulated.
//!
//! rustup has the standard library of a target where it can fetch it (`rustup target add`). Where
//! it cannot, the compiler of Debian's security archive is unpacked into a folder outside of the
//! repository, as it cannot be installed beside rustup. It has sources of the standard library,
//! too.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use xshell::{Cmd, Shell, cmd};

use crate::{root, tools};

/// The environment variable that names the folder of Debian's compiler.
const FOLDER: &str = "MERCER_CROSS";

/// Where Debian's package `wasi-libc` has its files.
const WASI: &str = "/usr/lib/wasm32-wasi";

/// Tests of the bits: instruction sets against portable code, and learners against formulas.
const TESTS: [(&str, &[&str]); 4] = [
    ("mercer-simd", &["--lib"]),
    ("mercer-kernels", &["--lib", "--tests"]),
    ("mercer-linalg-incremental", &["--lib", "--tests"]),
    ("mercer-registry", &["--test", "conformance"]),
];

/// A processor with the flags and programs that it needs.
#[derive(Clone, Copy)]
pub(crate) enum Target {
    Aarch64,
    /// Sizes have 32 bits; for checks alone, which link nothing.
    Narrow,
    Web,
}

impl Target {
    fn name(self) -> &'static str {
        match self {
            Self::Aarch64 => "aarch64-unknown-linux-gnu",
            Self::Narrow => "i686-unknown-linux-gnu",
            Self::Web => "wasm32-wasip1",
        }
    }
}

/// A compiler for a target: what cargo is told of it.
pub(crate) struct Compiler {
    target: Target,
    environment: Vec<(String, OsString)>,
    arguments: Vec<String>,
}

impl Compiler {
    /// rustup's, or Debian's.
    ///
    /// # Errors
    /// When there is neither, or a linker is missing; says what to install.
    pub(crate) fn find(shell: &Shell, target: Target) -> Result<Self> {
        let name = target.name();
        let mut flags = Vec::new();
        let mut found = Self { target, environment: Vec::new(), arguments: Vec::new() };
        let library = cmd!(shell, "rustc --print target-libdir --target {name}").quiet().read()?;
        let is_rustups = Path::new(&library).is_dir();
        if !is_rustups {
            found.use_debians(shell)?;
        }
        if !is_rustups && !matches!(target, Target::Aarch64) {
            found.environment.push(("RUSTC_BOOTSTRAP".to_owned(), "1".into()));
            found.arguments.push("-Zbuild-std=std,panic_abort".to_owned());
        }
        match target {
            Target::Narrow => {}
            Target::Aarch64 => {
                found
                    .set("LINKER", program(&["aarch64-linux-gnu-gcc"], "gcc-aarch64-linux-gnu libc6-dev-arm64-cross")?);
                let mut emulator = program(&["qemu-aarch64"], "qemu-user")?.into_os_string();
                emulator.push(" -L /usr/aarch64-linux-gnu");
                found.set("RUNNER", emulator);
            }
            Target::Web => {
                flags.push("-Ctarget-feature=+simd128,+relaxed-simd".to_owned());
                if !is_rustups {
                    let start = format!("{WASI}/crt1-command.o");
                    ensure!(Path::new(&start).is_file(), "there is no {start}: apt-get install wasi-libc");
                    // That libc lacks `realpath`, which `web/mercer.js` answers.
                    let link = ["-Clink-self-contained=no", "-Clink-arg=--allow-undefined"];
                    flags.extend(link.map(str::to_owned));
                    flags.extend([format!("-Clink-arg={start}"), format!("-L{WASI}")]);
                    found.set("LINKER", program(&["wasm-ld-22", "wasm-ld-19", "wasm-ld"], "lld-22 or lld")?);
                }
            }
        }
        found.set("RUSTFLAGS", flags.join(" "));
        Ok(found)
    }

    /// One of cargo's variables of the target.
    fn set(&mut self, what: &str, value: impl Into<OsString>) {
        let target = self.target.name().replace('-', "_").to_uppercase();
        self.environment.push((format!("CARGO_TARGET_{target}_{what}"), value.into()));
    }

    /// `cargo COMMAND` for the target, in a target folder of its own, since the compiler may be
    /// another one.
    pub(crate) fn cargo<'s>(&self, shell: &'s Shell, command: &str) -> Cmd<'s> {
        let (target, folder) = (self.target.name(), Self::folder());
        let cargo = cmd!(shell, "cargo {command} --target {target} --target-dir {folder}").args(&self.arguments);
        cargo.envs(self.environment.iter().map(|(name, value)| (name, value)))
    }

    fn folder() -> PathBuf {
        root().join("target/cross")
    }

    /// The file that a build of this profile makes.
    pub(crate) fn made(&self, profile: &str, file: &str) -> PathBuf {
        Self::folder().join(self.target.name()).join(profile).join(file)
    }

    fn use_debians(&mut self, shell: &Shell) -> Result<()> {
        let place = match std::env::var_os(FOLDER) {
            Some(named) => PathBuf::from(named),
            None => PathBuf::from(std::env::var_os("HOME").context("HOME is not set")?).join(".cache/mercer-cross"),
        };
        let unpacked = place.join(self.target.name());
        let rustc = unpacked.join("usr/bin/rustc");
        if !rustc.is_file() {
            let fetched = unpack(shell, self.target, &place, &unpacked);
            fetched
                .with_context(|| format!("no standard library of {0}: rustup target add {0}", self.target.name()))?;
        }
        let libraries = unpacked.join("usr/lib/x86_64-linux-gnu");
        let rustdoc = rustc.with_file_name("rustdoc");
        let set = [("RUSTC", rustc), ("RUSTDOC", rustdoc), ("LD_LIBRARY_PATH", libraries)];
        self.environment.extend(set.map(|(name, value)| (name.to_owned(), value.into_os_string())));
        Ok(())
    }
}

/// The first of these programs; `packages` are those of Debian that have one.
fn program(names: &[&str], packages: &str) -> Result<PathBuf> {
    let found = names.iter().find_map(|name| tools::on_path(name));
    found.with_context(|| format!("there is no {} in PATH: apt-get install {packages}", names.join(" or ")))
}

/// Downloads Debian's compiler with what the target needs, with lists of packages of its own, so
/// that the system's stay as they are.
fn unpack(shell: &Shell, target: Target, place: &Path, unpacked: &Path) -> Result<()> {
    if tools::on_path("apt-get").is_none() || cfg!(not(target_arch = "x86_64")) {
        bail!("only Debian on x86-64 has a compiler that can be unpacked");
    }
    for folder in ["lists/partial", "cache/archives/partial", "packages"] {
        fs::create_dir_all(place.join(folder))?;
    }
    let (lists, cache) = (place.join("lists"), place.join("cache"));
    let state = format!("Dir::State::lists={}", lists.display());
    let cache = format!("Dir::Cache={}", cache.display());
    let (amd64, arm64) = ("APT::Architectures::=amd64", "APT::Architectures::=arm64");
    let options = ["-o", &state, "-o", &cache, "-o", amd64, "-o", arm64];
    cmd!(shell, "apt-get {options...} -qq update").quiet().run()?;
    let needs = |package: &str| cmd!(shell, "apt-cache {options...} depends {package}").quiet().read();
    let (library, driver) = (needs("libstd-rust-web-dev")?, needs("rustc-web")?);
    // The library of this very version, and the code generator that the compiler was built with.
    let library = dependencies(&library).next().context("no rustc-web here")?;
    let generator = needs(library)? + &driver;
    let generator = dependencies(&generator).find(|name| name.starts_with("libllvm")).context("no libllvm here")?;
    let more = match target {
        Target::Aarch64 => "libstd-rust-web-dev:arm64",
        Target::Narrow | Target::Web => "rust-web-src",
    };
    let packages = ["rustc-web", "libstd-rust-web-dev", library, generator, more];
    {
        let _folder = shell.push_dir(place.join("packages"));
        cmd!(shell, "apt-get {options...} -qq download {packages...}").quiet().ignore_stderr().run()?;
    }
    // Under its name only when all is there.
    let partial = unpacked.with_extension("partial");
    for package in fs::read_dir(place.join("packages"))? {
        let package = package?.path();
        cmd!(shell, "dpkg -x {package} {partial}").quiet().run()?;
        fs::remove_file(package)?;
    }
    Ok(fs::rename(partial, unpacked)?)
}

/// The packages that a package needs, as `apt-cache depends` lists them.
fn dependencies(listed: &str) -> impl Iterator<Item = &str> {
    listed.lines().filter_map(|line| line.trim().strip_prefix("Depends: "))
}

/// `cargo xtask aarch64`: the emulator proves bits, not speed.
///
/// # Errors
/// When a compiler or the emulator is missing, or a test fails.
pub(crate) fn aarch64() -> Result<()> {
    let shell = Shell::new()?;
    shell.change_dir(root());
    let compiler = Compiler::find(&shell, Target::Aarch64)?;
    for (package, what) in TESTS {
        compiler.cargo(&shell, "test").args(["--package", package]).args(what).run()?;
    }
    Ok(())
}
