//! The shape of the sources, a part of `cargo xtask tidy`: files that need each other (parent and
//! child may), one name for two types of a crate, wide comments and long heads.

use std::collections::{BTreeMap, BTreeSet};

/// Columns of a line of comments, except tables and code.
const WIDTH: usize = 100;
/// Lines of the head of a file.
const HEAD: usize = 30;

/// Adds what is wide, long, in a circle or named twice. `sources` are names from the root and
/// texts.
pub(super) fn rules(sources: &[(String, String)], found: &mut Vec<String>) {
    for (name, text) in sources {
        let (wide, head) = (wide(text), text.lines().take_while(|line| line.starts_with("//!")).count());
        if wide > 0 {
            found.push(format!("{name}: {wide} lines of comments are wider than {WIDTH} columns: wrap them"));
        }
        if head > HEAD {
            found.push(format!("{name}: its head has {head} lines, more than {HEAD}: shorten it"));
        }
    }
    let circled = circled(sources);
    if !circled.is_empty() {
        let files = circled.into_iter().collect::<Vec<_>>().join(", ");
        found.push(format!("files need each other: break a circle of {files}"));
    }
    found.extend(
        repeated(sources).into_iter().map(|(name, files)| format!("{files}: {name} names two types; rename one")),
    );
}

/// The types that several files of a crate declare, with these files. Each program and each
/// command of the tools has its `Arguments`.
fn repeated(sources: &[(String, String)]) -> Vec<(&str, String)> {
    let mut declared: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
    for (name, text) in sources {
        let Some((krate, _)) = name.split_once("/src/") else { continue };
        for item in without_tests(text).lines().filter_map(type_name).filter(|item| *item != "Arguments") {
            declared.entry((krate, item)).or_default().push(name);
        }
    }
    let several = declared.into_iter().filter(|(_, files)| files.iter().any(|file| *file != files[0]));
    several.map(|((_, item), files)| (item, files.join(", "))).collect()
}

/// The type or trait that a line declares, in public or not, outside of any block.
fn type_name(line: &str) -> Option<&str> {
    let (kind, rest) = line.trim_start_matches("pub").split_once(' ').and_then(|(seen, rest)| match seen {
        "struct" | "enum" | "trait" | "type" => Some((seen, rest)),
        "" | "(crate)" | "(super)" => rest.split_once(' '),
        _ => None,
    })?;
    let possible = ["struct", "enum", "trait", "type"].contains(&kind) && !line.starts_with(' ');
    rest.split(|c: char| !c.is_alphanumeric()).next().filter(|_| possible)
}

/// Lines of comments that could be wrapped: a row of a table and a line of code cannot.
fn wide(text: &str) -> usize {
    let mut code = false;
    let could = |line: &&str| {
        let Some(words) = line.trim_start().strip_prefix("//") else { return false };
        let words = words.trim_start_matches(['/', '!']).trim_start();
        code ^= words.starts_with("```");
        !code && !words.starts_with('|') && line.chars().count() > WIDTH
    };
    text.lines().filter(could).count()
}

/// The names of the files that need themselves by way of others. A name that the root of a crate
/// passes on stands for the file that declares it.
fn circled(sources: &[(String, String)]) -> BTreeSet<&str> {
    let mut files: BTreeMap<(&str, Vec<&str>), (&str, &str)> = BTreeMap::new();
    for (name, text) in sources {
        if let Some((krate, file)) = name.split_once("/src/").filter(|(_, file)| !file.starts_with("bin/")) {
            files.insert((krate, module(file)), (name, text));
        }
    }
    let mut declared: BTreeMap<(&str, &str), Vec<&Vec<&str>>> = BTreeMap::new();
    for ((krate, own), (_, text)) in &files {
        for item in without_tests(text).lines().filter_map(public) {
            declared.entry((krate, item)).or_default().push(own);
        }
    }
    let mut needs: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for ((krate, own), (name, text)) in &files {
        for path in uses(without_tests(text)).iter().filter_map(|path| absolute(path, own)) {
            let path = match path.first().and_then(|item| declared.get(&(*krate, *item))) {
                Some(modules) if modules.len() == 1 && !files.contains_key(&(*krate, vec![path[0]])) => {
                    modules[0].clone()
                }
                _ => path,
            };
            let known = |length: usize| files.get_key_value(&(*krate, path[..length].to_vec()));
            let Some(((_, module), (other, _))) = (0..=path.len()).rev().find_map(known) else { continue };
            if !module.starts_with(own) && !own.starts_with(module) {
                needs.entry(name).or_default().insert(other);
            }
        }
    }
    needs.keys().copied().filter(|file| reachable(file, &needs).contains(file)).collect()
}

fn without_tests(text: &str) -> &str {
    text.split("#[cfg(test)]").next().unwrap_or(text)
}

/// The type, trait or function that a line declares in public.
fn public(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once("pub ").filter(|(before, _)| before.trim().is_empty())?;
    let (kind, rest) = rest.split_once(' ')?;
    let kinds = ["struct", "enum", "trait", "type", "fn"];
    // What is indented is declared by a macro if it is a type, and a method if it is not.
    let possible = kinds.contains(&kind) && (kind != "fn" || line.starts_with("pub"));
    rest.split(|c: char| c != '_' && !c.is_alphanumeric()).next().filter(|_| possible)
}

/// The module of a file below `src`.
fn module(file: &str) -> Vec<&str> {
    let mut path: Vec<&str> = file.trim_end_matches(".rs").split('/').collect();
    path.pop_if(|last| ["lib", "main", "mod"].contains(last));
    path
}

/// The paths of all `use` lines, with lists in braces written out.
fn uses(code: &str) -> Vec<Vec<&str>> {
    let mut paths = Vec::new();
    for part in code.split("use ").skip(1).filter_map(|rest| rest.split(';').next()) {
        spread(&mut Vec::new(), part, &mut paths);
    }
    paths
}

fn spread<'a>(before: &mut Vec<&'a str>, tree: &'a str, paths: &mut Vec<Vec<&'a str>>) {
    let (path, list) = tree.split_once('{').map_or((tree, None), |(path, list)| (path, list.rsplit_once('}')));
    let names = path.split("::").filter_map(|name| name.split_whitespace().next());
    let length = before.len();
    before.extend(names);
    match list {
        None => paths.push(before.clone()),
        Some((list, _)) => {
            let (mut depth, mut start) = (0, 0);
            for (i, c) in list.char_indices().chain([(list.len(), ',')]) {
                match c {
                    '{' => depth += 1,
                    '}' => depth -= 1,
                    ',' if depth == 0 => {
                        spread(before, &list[start..i], paths);
                        start = i + 1;
                    }
                    _ => {}
                }
            }
        }
    }
    before.truncate(length);
}

/// The path from the root of the crate, if it leads into the crate; `own` is the module that says
/// it.
fn absolute<'a>(path: &[&'a str], own: &[&'a str]) -> Option<Vec<&'a str>> {
    let above = path.iter().take_while(|name| **name == "super").count();
    match *path.first()? {
        "crate" => Some(path[1..].to_vec()),
        "super" => Some([own.get(..own.len().checked_sub(above)?)?, &path[above..]].concat()),
        _ => None,
    }
}

/// All that a file needs, at once or by way of others.
fn reachable<'a>(file: &'a str, needs: &BTreeMap<&'a str, BTreeSet<&'a str>>) -> BTreeSet<&'a str> {
    let (mut all, mut open) = (BTreeSet::new(), vec![file]);
    while let Some(file) = open.pop() {
        open.extend(needs.get(file).into_iter().flatten().copied().filter(|next| all.insert(*next)));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> Vec<(String, String)> {
        files.iter().map(|(name, text)| (format!("crates/x/src/{name}"), (*text).to_owned())).collect()
    }

    #[test]
    fn circles_are_found_and_parents_may_know_their_children() {
        let sources = tree(&[
            ("lib.rs", "pub use a::A;\nuse crate::b::B;"),
            ("a.rs", "use crate::{\n    b::{C, inner::D},\n    A,\n};\nuse std::fmt;"),
            ("b.rs", "use self::inner::D;"),
            ("b/inner.rs", "use super::super::d::D;\nuse super::B;"),
            ("d.rs", "use crate::a::A as Other;"),
            ("e.rs", "use crate::a::A;\n#[cfg(test)]\nmod tests {\n    use crate::e::E;\n}"),
        ]);
        let found: Vec<&str> = circled(&sources).into_iter().collect();
        assert_eq!(found, ["crates/x/src/a.rs", "crates/x/src/b/inner.rs", "crates/x/src/d.rs"]);
    }

    #[test]
    fn names_that_the_root_passes_on_are_those_of_their_file() {
        let sources = tree(&[
            ("lib.rs", "mod a;\nmod b;\npub use a::*;\npub use b::B;"),
            ("a.rs", "use crate::B;\npub struct A;"),
            ("b.rs", "use crate::{A, Unknown};\npub(crate) struct Hidden;\n    pub struct B {"),
        ]);
        assert_eq!(circled(&sources).into_iter().collect::<Vec<_>>(), ["crates/x/src/a.rs", "crates/x/src/b.rs"]);
    }

    #[test]
    fn a_type_has_a_name_of_its_own_in_its_crate() {
        let sources = tree(&[
            ("a.rs", "struct Row;\npub struct Arguments;\n    struct Inner;\npub(crate) type Alone = u8;"),
            ("b.rs", "pub(super) enum Row {}\nstruct Arguments;\nstruct Inner;\n#[cfg(test)]\nstruct Alone;"),
        ]);
        assert_eq!(repeated(&sources), [("Row", "crates/x/src/a.rs, crates/x/src/b.rs".to_owned())]);
    }

    #[test]
    fn wide_comments_and_long_heads_are_violations() {
        let text = format!("//! a\n{}// {}\n// | {} |\n", "//! b\n".repeat(HEAD), "w".repeat(WIDTH), "w".repeat(WIDTH));
        let mut found = Vec::new();
        rules(&[("crates/x/src/lib.rs".to_owned(), text)], &mut found);
        let [wide, long] = &found[..] else { panic!("{found:?}") };
        assert!(wide.contains(": 1 lines") && long.contains("31 lines"), "{found:?}");
    }
}
