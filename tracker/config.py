"""config.toml, the environment and `--set` -> one frozen value. Nothing else in the project reads the three.

It checks forms and never looks whether a repository, a folder or a package exists.
"""

from __future__ import annotations

import os
import re
import tomllib
import zoneinfo
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args, get_type_hints

import msgspec

from tracker.errors import ConfigError
from tracker.sections import FORMS, LEAST, SECTIONS, Catalogue, Filing, Schedule, Section, State, Upstream

DEFAULT_FILE = "config.toml"
PREFIX = "TRACKER_"


class Config(msgspec.Struct, frozen=True, kw_only=True):
    """All of it. Paths are absolute."""

    file: Path
    upstream: Upstream
    catalogue: Catalogue
    state: State
    schedule: Schedule
    filing: Filing

    @property
    def web(self) -> str:
        """Upstream's address for people: that of its git, or where they cannot open it, the repository's on GitHub."""
        url = self.upstream.url.removesuffix("/").removesuffix(".git")
        people_can = url.startswith("https://") and "@" not in url
        return url if people_can else f"https://github.com/{self.catalogue.repository}"


def load(path: Path | None, overrides: Sequence[str] = (), environ: Mapping[str, str] = os.environ) -> Config:
    """The configuration: a file (without `path`: config.toml of the current directory), over it the variables
    TRACKER_<SECTION>_<KEY>, over them the `section.key=value`s of `overrides`.

    ConfigError: no file, broken TOML (file, line, column), an unknown key (with the nearest), a wrong type.
    """
    file = _expanded("-c", path or Path(DEFAULT_FILE))
    shown = str(file)
    values = _sections(shown, _parse(shown, _text(file, named=path is not None)))
    where = {f"{section}.{key}": shown for section, keys in values.items() for key in keys}
    for source, section, key, text in [*_from_environment(environ), *_from_overrides(overrides)]:
        values.setdefault(section, {})[key] = _value(source, section, key, text)
        where[f"{section}.{key}"] = source
    folder = file.absolute().parent
    built = {name: _section(name, values.get(name, {}), where, folder) for name in SECTIONS}
    schedule = values.get("schedule", {})
    if schedule.get("every") and schedule.get("cron"):
        raise ConfigError(
            f"{where['schedule.every']}: schedule.cron and schedule.every are both set: take one of them away"
        )
    return Config(file=file.absolute(), **built)  # type: ignore[arg-type]  # SECTIONS names the type of each


def _text(file: Path, *, named: bool) -> str:
    try:
        return file.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        hint = "look at -c" if named else "run in its folder, or name it with -c"
        raise ConfigError(f"{file.absolute()}: there is no such file: {hint}") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file}: byte {error.start} is not UTF-8: save the file as UTF-8") from None
    except IsADirectoryError:
        raise ConfigError(f"{file} is a folder: name the file in it with -c") from None
    except OSError as error:
        raise ConfigError(f"{file} cannot be read: {error.strerror}") from None


def _parse(shown: str, text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ConfigError(f"{shown}: values are nested too deeply") from None
    except ValueError as error:  # TOMLDecodeError, and that of an endless number
        # Python 3.14 has the position as attributes, older ones only at the end of their message.
        said = re.fullmatch(r"(.*?)(?: \(at (?:line (\d+), column (\d+)|end of document)\))?", str(error), re.DOTALL)
        assert said is not None
        lines = text.split("\n")
        line = getattr(error, "lineno", None) or int(said[2] or len(lines))
        column = getattr(error, "colno", None) or int(said[3] or len(lines[-1]) + 1)
        raise ConfigError(f"{shown}:{line}:{column}: {said[1]}") from None


def _sections(shown: str, document: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    for section, keys in document.items():
        _check_section(shown, section)
        if not isinstance(keys, dict):
            raise ConfigError(f"{shown}: {section} is a section: write it as [{section}] and its keys below")
        for key in keys:
            _check_key(shown, section, key)
    return {section: dict(keys) for section, keys in document.items()}


def _check_section(source: str, section: str) -> None:
    if section not in SECTIONS:
        raise ConfigError(f"{source}: there is no section [{section}]{_nearest(section, SECTIONS)}")


def _check_key(source: str, section: str, key: str) -> None:
    keys = SECTIONS[section].__struct_fields__
    if key not in keys:
        raise ConfigError(f"{source}: there is no key {section}.{key}{_nearest(key, keys, f'{section}.')}")


def _nearest(name: str, names: Iterable[str], prefix: str = "") -> str:
    names = list(names)
    import difflib  # only who mistypes waits for it

    close = difflib.get_close_matches(name.lower(), names, n=1)
    if close:
        return f": did you mean {prefix}{close[0]}?"
    return f": there is {', '.join(prefix + known for known in names)}"


def _from_environment(environ: Mapping[str, str]) -> list[tuple[str, str, str, str]]:
    """(source, section, key, text) of each variable of a known section; others are none of its business."""
    found = []
    for name in sorted(environ):
        section, _, key = name.removeprefix(PREFIX).lower().partition("_")
        if name.startswith(PREFIX) and section in SECTIONS and key:
            _check_key(name, section, key)
            found.append((name, section, key, environ[name]))
    return found


def _from_overrides(overrides: Sequence[str]) -> list[tuple[str, str, str, str]]:
    found = []
    for override in overrides:
        name, equals, text = override.partition("=")
        section, dot, key = name.strip().partition(".")
        if not (equals and dot):
            raise ConfigError(f"--set {override}: write it as section.key=value")
        source = f"--set {name.strip()}"
        _check_section(source, section)
        _check_key(source, section, key)
        found.append((source, section, key, text.strip()))
    return found


def _value(source: str, section: str, key: str, text: str) -> Any:
    """The text of an override as a value of the key's type: as TOML where that fits, else as it stands."""
    default = getattr(SECTIONS[section](), key)
    try:
        parsed = tomllib.loads(f"value = {text}")
    except (ValueError, RecursionError):
        parsed = {}
    value = parsed["value"] if parsed.keys() == {"value"} else None
    if isinstance(default, int) and not isinstance(default, bool):
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        raise ConfigError(f"{source}: {section}.{key} is a number, not {text!r}")
    if isinstance(default, bool):
        if isinstance(value, bool):
            return value
        raise ConfigError(f"{source}: {section}.{key} is true or false, not {text!r}")
    if isinstance(default, tuple):
        if isinstance(value, list):
            return value
        return [part for part in (part.strip() for part in text.split(",")) if part]
    return value if isinstance(value, str) else text


def _section(name: str, values: Mapping[str, Any], where: Mapping[str, str], folder: Path) -> Section:
    try:
        section = msgspec.convert(values, SECTIONS[name], dec_hook=_path)
    except msgspec.ValidationError as error:
        raise ConfigError(_wrong_type(name, str(error), values, where)) from None
    changes: dict[str, Any] = {}
    for key in section.__struct_fields__:
        value = getattr(section, key)
        source = where.get(f"{name}.{key}", "")
        pattern, form = FORMS.get(f"{name}.{key}", (None, ""))
        if pattern and not re.fullmatch(pattern, value):
            raise ConfigError(f"{source}: {name}.{key} is {form}, not {value!r}")
        least = LEAST.get(f"{name}.{key}")
        if least is not None and value < least:
            raise ConfigError(f"{source}: {name}.{key} is at least {least}, not {value}")
        if isinstance(value, Path):
            changes[key] = folder / _expanded(source, value)
        if key == "paths" and not value:
            raise ConfigError(f"{source}: {name}.{key} is empty: no source would be in scope")
        if isinstance(value, tuple) and any(not glob.strip("/ ") for glob in value):
            raise ConfigError(f"{source}: {name}.{key} holds an empty glob")
        if key == "timezone":
            _check_timezone(source, value)
        if key == "url" and value.startswith(("./", "../", "~")):
            changes[key] = os.path.normpath(folder / _expanded(source, Path(value)))
    return msgspec.structs.replace(section, **changes)


def _expanded(source: str, path: Path) -> Path:
    try:
        return path.expanduser()
    except RuntimeError:
        raise ConfigError(f"{source}: there is no such user as in {str(path)!r}") from None


def _path(kind: type, value: object) -> Path:
    if not isinstance(value, str) or not value or "\0" in value:
        got = {str: "nothing", int: "int", list: "array", dict: "object"}.get(type(value), "other")
        raise ValueError(f"Expected `path`, got `{got}`")  # in msgspec's own words, to be read below
    return Path(value)


def _check_timezone(source: str, name: str) -> None:
    try:
        zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        raise ConfigError(
            f'{source}: schedule.timezone {name!r} is not known: take one such as "Europe/Berlin"'
        ) from None


_WORDS = {
    "str": "text in quotes",
    "array": "a list",
    "bool": "true or false",
    "int": "a number",
    "float": "a number",
    "object": "a table",
    "path": "a path",
    "datetime": "a date",
    "date": "a date",
    "time": "a time",
    "nothing": "nothing",
    "other": "something else",
}


def _wrong_type(section: str, said: str, values: Mapping[str, Any], where: Mapping[str, str]) -> str:
    """msgspec's words -> ours: which key, what was wanted, what came."""
    at = re.search(r"`\$\.(\w+)((?:\[[^]]*\])*)`$", said)
    assert at is not None, said
    key, item = at.groups()
    source = where.get(f"{section}.{key}", "")
    if said.startswith("Invalid enum"):
        choices = " or ".join(f'"{choice}"' for choice in get_args(get_type_hints(SECTIONS[section])[key]))
        return f"{source}: {section}.{key} is {choices}, not {values[key]!r}"
    wanted, got = re.findall(r"`(\w+)`", said)[:2]
    place = f"an item of {section}.{key}" if item else f"{section}.{key}"
    return f"{source}: {place} must be {_WORDS.get(wanted, wanted)}, not {_WORDS.get(got, got)}"
