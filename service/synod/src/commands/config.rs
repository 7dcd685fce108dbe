//! `synod config`: the contexts of the settings file, without a cluster.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::args::{ConfigCommand, ConfigFileArgs, ConfigQueryArgs, SetContextArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{self, Document, Format};
use crate::settings::{ContextValues, Contexts, edited, own_path, shown, without};
use crate::views;

/// # Errors
///
/// A file that cannot be read, written or understood, or a context that is not there.
pub(crate) fn run(command: &ConfigCommand) -> Result<Exit, Failure> {
    match command {
        ConfigCommand::View(query) => view(query)?,
        ConfigCommand::GetContexts(query) => {
            let (contexts, _) = contexts(&query.file)?;
            output::print(&views::contexts(&contexts).render(query.output))?;
        }
        ConfigCommand::CurrentContext(query) => current_context(query)?,
        ConfigCommand::UseContext { name, file } => use_context(name, &path(file)?)?,
        ConfigCommand::SetContext(args) => set_context(args)?,
        ConfigCommand::DeleteContext { name, file } => delete_context(name, &path(file)?)?,
    }
    Ok(Exit::Ok)
}

fn view(query: &ConfigQueryArgs) -> Result<(), Failure> {
    let (contexts, text) = contexts(&query.file)?;
    let document = match query.output {
        // For people it is what they have written, with their comments.
        Format::Table | Format::Wide => {
            output::print(&text)?;
            return Ok(());
        }
        Format::Json | Format::Yaml | Format::Name => Document {
            value: toml::from_str(&text).expect("it was read as TOML"),
            tables: Vec::new(),
            wide: Vec::new(),
            names: contexts.all.into_iter().map(|(name, _)| name).collect(),
        },
    };
    output::print(&document.render(query.output))?;
    Ok(())
}

fn current_context(query: &ConfigQueryArgs) -> Result<(), Failure> {
    let (contexts, _) = contexts(&query.file)?;
    let Some(name) = contexts.current else {
        let advice = "`synod config use-context` chooses one";
        return Err(Failure::local("no context is chosen", advice).with_exit(Exit::NotFound));
    };
    let format = match query.output {
        Format::Table | Format::Wide => Format::Name,
        other => other,
    };
    output::print(&views::current_context(&name).render(format))?;
    Ok(())
}

/// The contexts of the file and its text, without what may be a secret.
fn contexts(file: &ConfigFileArgs) -> Result<(Contexts, String), Failure> {
    let path = path(file)?;
    let place = path.display().to_string();
    let text = shown(&place, &read(&path)?)?;
    Ok((Contexts::of(&place, &text)?, text))
}

fn use_context(name: &str, path: &Path) -> Result<(), Failure> {
    let (place, text) = (path.display().to_string(), read(path)?);
    known(name, &place, &text)?;
    write(path, &edited(&place, &text, None, Some(name))?)?;
    output::print(&format!("{name} is used from now on\n"))?;
    Ok(())
}

fn delete_context(name: &str, path: &Path) -> Result<(), Failure> {
    let (place, text) = (path.display().to_string(), read(path)?);
    known(name, &place, &text)?;
    write(path, &without(&place, &text, name)?)?;
    output::print(&format!("took the context {name} out of {place}\n"))?;
    Ok(())
}

/// Checks that the file has a context of this name.
fn known(name: &str, place: &str, text: &str) -> Result<(), Failure> {
    let contexts = Contexts::of(place, text)?;
    if contexts.all.iter().any(|(known, _)| known == name) {
        return Ok(());
    }
    let message = format!("{place} has no context {name:?}");
    let advice = "`synod config get-contexts` shows those that there are";
    Err(Failure::local(message, advice).in_usage())
}

fn set_context(args: &SetContextArgs) -> Result<(), Failure> {
    let path = path(&args.file)?;
    let name = args.name.as_str();
    if name.is_empty() {
        let failure = Failure::local("a context needs a name", "give it one");
        return Err(failure.in_usage());
    }
    let given = [
        ("endpoints", &args.endpoints),
        ("cacert", &args.cacert),
        ("cert", &args.cert),
        ("key", &args.key),
        ("token_file", &args.token_file),
        ("tls_server_name", &args.tls_server_name),
        ("timeout", &args.timeout),
    ];
    let given = given
        .into_iter()
        .filter_map(|(key, text)| Some((key, text.clone()?)));
    let values = ContextValues {
        given: given.collect(),
    };
    let values = values.checked()?;
    let (place, text) = (path.display().to_string(), read(&path)?);
    let contexts = Contexts::of(&place, &text)?;
    let current = contexts.current.is_none().then_some(name);
    write(
        &path,
        &edited(&place, &text, Some((name, &values)), current)?,
    )?;
    let is_new = !contexts.all.iter().any(|(known, _)| known == name);
    let what = if is_new { "made" } else { "changed" };
    output::print(&format!("{what} the context {name} in {place}\n"))?;
    Ok(())
}

/// The path of the file, whether it is there or not.
fn path(file: &ConfigFileArgs) -> Result<PathBuf, Failure> {
    file.config.clone().or_else(own_path).ok_or_else(|| {
        let message =
            "there is no folder for a settings file: neither XDG_CONFIG_HOME nor HOME is set";
        Failure::local(message, "name the file with --config").in_usage()
    })
}

/// The text of the file; empty where there is none yet.
fn read(path: &Path) -> Result<String, Failure> {
    match fs::read_to_string(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        read => read.map_err(|error| {
            let message = format!(
                "the settings file {} cannot be read: {error}",
                path.display()
            );
            Failure::local(message, "check the path and who may read it").in_usage()
        }),
    }
}

/// Writes the file whole, beside itself first: whoever reads it meanwhile finds the old one.
fn write(path: &Path, text: &str) -> Result<(), Failure> {
    // A link stays one.
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let written = || -> io::Result<()> {
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        fs::create_dir_all(folder)?;
        let mut file = NamedTempFile::new_in(folder)?;
        file.write_all(text.as_bytes())?;
        file.as_file().sync_all()?;
        file.persist(&path)?;
        Ok(())
    };
    written().map_err(|error| {
        let message = format!(
            "the settings file {} cannot be written: {error}",
            path.display()
        );
        Failure::local(message, "check the path and who may write there")
    })
}
