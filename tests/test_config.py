"""config.toml, the environment and `--set`: every fault is one line that says where and what."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracker.config import SECTIONS, load
from tracker.errors import ConfigError

DEFAULTS = {
    "upstream": {
        "url": "https://github.com/jax-ml/jax.git",
        "branch": "main",
        "package": "jax",
        "paths": ("jax/**/*.py",),
        "exclude": (),
    },
    "catalogue": {"repository": "jax-ml/jax", "track": "pages"},
    "schedule": {"cron": "17 */6 * * *", "every": "", "timezone": "UTC"},
    "filing": {"repository": "", "apply": False},
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "config.toml"
    path.write_text("")
    return path


def test_an_empty_file_gives_the_defaults_of_the_design(file: Path) -> None:
    config = load(file, environ={})
    for section, keys in DEFAULTS.items():
        for key, value in keys.items():
            assert getattr(getattr(config, section), key) == value, f"{section}.{key}"
    assert config.file == file
    assert config.catalogue.path == file.parent / "state/catalogue"
    assert config.state.path == file.parent / "state"
    assert config.state.mirror == file.parent / "state/mirror"


def test_the_config_of_the_project_holds_only_known_keys() -> None:
    config = load(Path(__file__).parent.parent / "config.toml", environ={})
    assert config.upstream.paths == ("jax/**/*.py",)


def test_without_a_path_it_is_config_toml_here(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file.write_text('[upstream]\nbranch = "trunk"\n')
    monkeypatch.chdir(file.parent)
    assert load(None, environ={}).upstream.branch == "trunk"
    file.unlink()
    with pytest.raises(ConfigError, match=f"{file}: there is no such file: .*-c"):
        load(None, environ={})


def test_paths_are_relative_to_the_file(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ada")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    file.write_text('[state]\npath = "st"\n[catalogue]\npath = "~/pages"\n[upstream]\nurl = "../up"\n')
    config = load(Path("../config.toml"), environ={})
    assert config.state.path.resolve() == tmp_path / "st"
    assert config.state.path.is_absolute()
    assert config.catalogue.path == Path("/home/ada/pages")
    assert Path(config.upstream.url).resolve() == tmp_path.parent / "up"


def test_bom_and_crlf_are_read(file: Path) -> None:
    file.write_bytes(b'\xef\xbb\xbf[upstream]\r\nbranch = "x"\r\n')
    assert load(file, environ={}).upstream.branch == "x"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[upstream]\n\nurl = ", ":3:7: Invalid value"),
        ('[upstream]\nurl = "open', ":2:12: Unterminated string"),
        ("[a]\n x y", ":2:4: Expected '=' after a key"),
        ('[upstream]\nurl = "a"\nurl = "b"', ":3:10: Cannot overwrite a value"),
        ("x = " + "[" * 5000, ": values are nested too deeply"),
        ("[upstraem]", r": there is no section \[upstraem\]: did you mean upstream\?"),
        ("[zzz]", r": there is no section \[zzz\]: there is upstream, catalogue, state, schedule, filing"),
        ("[upstream]\nurll = 1", r": there is no key upstream.urll: did you mean upstream.url\?"),
        ("[filing]\nzzz = 1", ": there is no key filing.zzz: there is filing.repository, filing.apply"),
        ("upstream = 3", r": upstream is a section: write it as \[upstream\]"),
        ("[upstream]\nurl = 3", ": upstream.url must be text in quotes, not a number"),
        ("[upstream]\nurl = 2020-01-01", ": upstream.url must be text in quotes, not a date"),
        ("[upstream]\nurl = {a = 1}", ": upstream.url must be text in quotes, not a table"),
        ('[upstream]\npaths = "x"', ": upstream.paths must be a list, not text in quotes"),
        ("[upstream]\npaths = [1.5]", ": an item of upstream.paths must be text in quotes, not a number"),
        ("[upstream]\npaths = []", ": upstream.paths is empty"),
        ('[upstream]\nexclude = [""]', ": upstream.exclude holds an empty glob"),
        ('[upstream]\nurl = "-x"', ": upstream.url is a url or a path, not '-x'"),
        ('[upstream]\nurl = ""', ": upstream.url is a url or a path, not ''"),
        ('[upstream]\nbranch = "--all"', ": upstream.branch is the name of a branch"),
        ('[upstream]\npackage = "a b"', ": upstream.package is the name of a package"),
        ('[catalogue]\ntrack = "alle"', ': catalogue.track is "pages" or "all", not \'alle\''),
        ('[catalogue]\nrepository = "jax"', ": catalogue.repository is owner/name, not 'jax'"),
        ("[catalogue]\npath = 3", ": catalogue.path must be a path, not a number"),
        ('[state]\npath = ""', ": state.path must be a path, not nothing"),
        ('[filing]\napply = "yes"', ": filing.apply must be true or false, not text in quotes"),
        ('[filing]\napi = "http://api.github.com"', ": filing.api is an https url"),
        ('[filing]\napi = "http://127.0.0.1.evil.example"', ": filing.api is an https url"),
        ('[filing]\napi = "http://localhost@evil.example"', ": filing.api is an https url"),
        ('[filing]\napi = "https://user:word@ghe.example/api/v3"', ": filing.api is an https url"),
        ('[filing]\napi = "https://ghe.example/api?x=1"', ": filing.api is an https url"),
        ('[filing]\napi = "ftp://ghe.example"', ": filing.api is an https url"),
        ('[schedule]\ncron = "x"', ": schedule.cron is five fields"),
        ('[schedule]\nevery = "6 hours"', ": schedule.every is a number and s, m, h or d"),
        ('[schedule]\nevery = "6h"\ncron = "* * * * *"', ": schedule.cron and schedule.every are both set"),
        ('[schedule]\ntimezone = "Europe/Berlim"', ": schedule.timezone 'Europe/Berlim' is not known"),
        ('[schedule]\ntimezone = "../etc"', ": schedule.timezone '../etc' is not known"),
    ],
)
def test_a_fault_is_one_line_with_its_place(file: Path, text: str, message: str) -> None:
    file.write_text(text)
    with pytest.raises(ConfigError, match=f"^{file}{message}") as caught:
        load(file, environ={})
    assert "\n" not in str(caught.value)


def test_files_that_are_none(file: Path, tmp_path: Path) -> None:
    file.write_bytes(b"# caf\xe9")
    with pytest.raises(ConfigError, match="byte 5 is not UTF-8"):
        load(file, environ={})
    with pytest.raises(ConfigError, match="is a folder"):
        load(tmp_path, environ={})
    with pytest.raises(ConfigError, match="cannot be read: Not a directory"):
        load(file / "below", environ={})
    with pytest.raises(ConfigError, match=r"no such file: look at -c"):
        load(tmp_path / "none.toml", environ={})


@pytest.mark.parametrize(
    ("text", "section", "key", "value"),
    [
        ("a b", "upstream", "url", "a b"),
        ('"quoted"', "upstream", "url", "quoted"),
        ("42", "upstream", "url", "42"),
        ("true", "upstream", "branch", "true"),
        ("a, b ,", "upstream", "paths", ("a", "b")),
        ('["a,b"]', "upstream", "paths", ("a,b",)),
        ("", "upstream", "exclude", ()),
        ("true", "filing", "apply", True),
        ("https://ghe.example/api/v3", "filing", "api", "https://ghe.example/api/v3"),
        ("https://api.sub.ghe.com", "filing", "api", "https://api.sub.ghe.com"),
        ("http://127.0.0.1:8080/api", "filing", "api", "http://127.0.0.1:8080/api"),
        ("http://[::1]:1", "filing", "api", "http://[::1]:1"),
        ("all", "catalogue", "track", "all"),
        ("12h", "schedule", "every", "12h"),
    ],
)
def test_an_override_takes_the_type_of_its_key(file: Path, text: str, section: str, key: str, value: object) -> None:
    by_option = load(file, [f"{section}.{key}={text}"], environ={})
    by_variable = load(file, environ={f"TRACKER_{section.upper()}_{key.upper()}": text})
    assert getattr(getattr(by_option, section), key) == value
    assert by_option == by_variable


def test_option_over_variable_over_file(file: Path) -> None:
    file.write_text('[upstream]\nbranch = "file"\nurl = "file"\npackage = "file"\n')
    environ = {"TRACKER_UPSTREAM_URL": "variable", "TRACKER_UPSTREAM_PACKAGE": "variable"}
    upstream = load(file, ["upstream.package=option"], environ).upstream
    assert (upstream.branch, upstream.url, upstream.package) == ("file", "variable", "option")


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("upstream.urll=1", r"--set upstream.urll: there is no key upstream.urll: did you mean upstream.url\?"),
        ("filling.apply=1", r"--set filling.apply: there is no section \[filling\]: did you mean filing\?"),
        ("upstream.url", "--set upstream.url: write it as section.key=value"),
        ("url=1", "--set url=1: write it as section.key=value"),
        ("filing.apply=yes", "--set filing.apply: filing.apply is true or false, not 'yes'"),
        ("upstream.paths=[1]", "--set upstream.paths: an item of upstream.paths must be text"),
        ("catalogue.track=some", '--set catalogue.track: catalogue.track is "pages" or "all"'),
    ],
)
def test_a_wrong_override_is_named(file: Path, override: str, message: str) -> None:
    with pytest.raises(ConfigError, match=f"^{message}"):
        load(file, [override], environ={})


def test_variables_of_other_names_are_ignored_and_wrong_keys_are_not(file: Path) -> None:
    load(file, environ={"TRACKER_CONFIG": "x", "TRACKER_STATE": "x", "TRACKER": "x", "UPSTREAM_URL": "x"})
    with pytest.raises(ConfigError, match=r"^TRACKER_STATE_PTH: .* did you mean state.path\?"):
        load(file, environ={"TRACKER_STATE_PTH": "x"})


def outcome(file: Path, *overrides: str) -> str:
    try:
        load(file, overrides, environ={})
    except ConfigError as error:
        return str(error)
    return "loaded"


@given(st.text())
def test_any_text_is_a_config_or_one_line(text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "config.toml"
        file.write_bytes(text.encode("utf-8", "surrogatepass"))
        assert len(outcome(file).splitlines()) == 1


_KEYS = [f"{section}.{key}" for section, kind in SECTIONS.items() for key in kind.__struct_fields__]


@given(st.sampled_from(_KEYS), st.text())
def test_any_override_is_a_value_or_one_line(key: str, text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "config.toml"
        file.write_text("")
        assert len(outcome(file, f"{key}={text}").splitlines()) == 1
