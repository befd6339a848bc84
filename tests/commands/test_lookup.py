"""`tracker lookup` as a user runs it: real repositories with releases, pages, pastes from a pipe."""

from __future__ import annotations

import io
import json

import jsonschema
import pytest

from tests.support import page

OLD = 'def check(x):\n    if not x:\n        raise TypeError(f"the argument {x} is no array of numbers")\n'
NEW = """
def check(x):
    if not x:
        raise ValueError(f"the argument {x} is not an array: convert it first")
"""
OTHER = 'def other(x):\n    raise RuntimeError(f"no device is left for {x}, free one before")\n'


@pytest.fixture(params=["sieved", "indexed"])
def releases(request, repository, run, place):
    """1.0 to 1.4: the check is reworded and retyped in 1.2, and gone in 1.4; the other one comes in 1.1."""
    repository.commit({"pkg/a.py": OLD})
    repository.git("tag", "demo-v1.0.0")
    repository.commit({"pkg/a.py": "\n\n" + OLD, "pkg/b.py": OTHER})
    repository.git("tag", "demo-v1.1.0")
    repository.commit({"pkg/a.py": NEW})
    repository.git("tag", "demo-v1.2.0")
    repository.git("tag", "demo-v1.3.0rc1")
    repository.commit({"pkg/c.py": "x = 1\n"})
    repository.git("tag", "demo-v1.3.0")
    repository.commit({"pkg/a.py": "def check(x):\n    return x\n"})
    repository.git("tag", "demo-v1.4.0")
    repository.commit({"pkg/c.py": "x = 2\n"})
    run("-q", "pull")
    if request.param == "indexed":
        assert run("-q", "history", "no device is left").code == 0
    return request.param


OLD_ERROR = "TypeError: the argument None is no array of numbers"


def look(run, *arguments: str) -> dict:
    done = run("-q", "lookup", "--format", "json", *arguments)
    assert (done.code, done.err) == (0, "")
    return json.loads(done.out)


def test_where_it_was_raised_and_what_became_of_it(run, releases):
    answer = look(run, "--at", "demo-v1.1.0", "--text", OLD_ERROR)
    assert (answer["schema"], answer["verdict"], answer["at"]["revision"]) == (
        "tracker.lookup/1",
        "match",
        "demo-v1.1.0",
    )
    (match,) = answer["matches"]
    assert (match["site"]["path"], match["site"]["line"], match["site"]["scope"]) == ("pkg/a.py", 5, "check")
    assert match["releases"] == {"first": "1.0.0", "last": "1.1.0", "ongoing": False}
    first, second = match["changes"]
    assert (first["release"], first["kinds"]) == ("1.2.0", ["reworded", "retyped"])
    assert first["site"]["exception"] == "ValueError"
    assert (second["release"], second["kinds"], second["site"]) == ("1.4.0", ["removed"], None)
    assert match["now"] is None


def test_the_newest_release_that_raises_it_where_no_version_is_told(run, releases):
    answer = look(run, "--text", OLD_ERROR)
    assert (answer["verdict"], answer["at"]["revision"]) == ("match", "demo-v1.1.0")
    assert answer["matches"][0]["releases"]["first"] == "1.0.0"
    later = look(run, "--text", "ValueError: the argument None is not an array: convert it first")
    assert later["at"]["revision"] == "demo-v1.3.0"


def test_what_is_still_there(run, releases):
    answer = look(run, "--text", "RuntimeError: no device is left for me, free one before")
    assert answer["at"]["revision"] == "main"
    (match,) = answer["matches"]
    assert match["releases"] == {"first": "1.1.0", "last": "1.4.0", "ongoing": True}
    assert match["changes"] == []
    assert match["now"] == match["site"]


def test_the_version_is_read_from_the_paste(run, releases):
    assert look(run, "--text", f"demo==1.0.0\n{OLD_ERROR}")["at"]["revision"] == "demo-v1.0.0"


def test_the_lines_of_a_traceback_outweigh_the_version_that_is_stated(run, releases):
    trace = (
        'Traceback (most recent call last):\n  File "/v/site-packages/pkg/a.py", line 5, in check\n'
        '    raise TypeError(f"the argument {x} is no array of numbers")\n' + OLD_ERROR
    )
    assert look(run, "--text", trace)["at"]["because"] == "the lines of the traceback are those of 1.1.0"
    answer = look(run, "--text", f"demo 1.2.0\n{trace}")
    assert answer["at"]["revision"] == "demo-v1.1.0"
    assert "the paste says demo 1.2.0, but its traceback shows lines of 1.1.0" in answer["notices"][0]


def test_nothing_anywhere(run, releases):
    answer = look(run, "--text", "TypeError: a text that nobody ever wrote")
    assert (answer["verdict"], answer["matches"]) == ("none", [])
    assert "none of the releases" in answer["notices"][0]
    answer = look(run, "--at", "demo-v1.4.0", "--text", OLD_ERROR)
    assert (answer["verdict"], answer["matches"]) == ("none", [])


def test_the_page(run, releases, repository, place):
    pin = repository.git("rev-parse", "demo-v1.0.0")
    text = page(OLD, 3, message="the argument {x} is no array of numbers", pin=pin, exception="TypeError")
    place.page("one.txt", text)
    for at in ("demo-v1.0.0", "demo-v1.1.0"):
        assert look(run, "--at", at, "--text", OLD_ERROR)["matches"][0]["entry"] == "0123456789abcdef"
    assert "one.txt   0123456789abcdef" in run("lookup", "--at", "demo-v1.0.0", "--text", OLD_ERROR).out


def test_for_a_person(run, releases):
    done = run("lookup", "--at", "demo-v1.0.0", "--text", OLD_ERROR)
    assert done.code == 0
    assert [line.strip() for line in done.out.splitlines()[2:] if line.strip()] == [
        "TypeError: the argument None is no array of numbers",
        "Raised here:",
        "where     pkg/a.py:3  in check",
        "raises    TypeError",
        "text      the argument {x} is no array of numbers",
        "when      if not x",
        "why       all literal parts of its text are there in order (29 letters), same exception  (0.83)",
        "releases  1.0.0 to 1.1.0",
        "in 1.2.0  reworded, other exception: ValueError: the argument {x} is not an array: convert it",
        "first",
        "in 1.4.0  removed",
    ]
    assert done.err == ("following the text through 5 releases\n" * 2 if releases == "sieved" else "")


def test_what_others_raise_for_a_person(run, releases):
    done = run("lookup", "--text", "jaxlib.xla_extension.XlaRuntimeError: INTERNAL: no")
    assert done.code == 0
    assert "Not one of the errors that the Python source raises: XlaRuntimeError is how" in " ".join(done.out.split())


def test_from_a_pipe_and_from_files(run, releases, monkeypatch, tmp_path):
    for raw in (OLD_ERROR.encode(), b"\xef\xbb\xbf" + OLD_ERROR.encode(), OLD_ERROR.encode("utf-16")):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(raw)))
        assert look(run, "--at", "demo-v1.0.0")["verdict"] == "match"
        file = tmp_path / "log.txt"
        file.write_bytes(raw)
        assert look(run, "--at", "demo-v1.0.0", str(file))["verdict"] == "match"


def test_the_schema_holds(run, releases):
    schema = json.loads(run("schema", "lookup").out)
    jsonschema.Draft202012Validator.check_schema(schema)
    for text in (
        OLD_ERROR,
        "hello",
        "XlaRuntimeError: x",
        f"{OLD_ERROR}\nRuntimeError: no device is left for me, free one before",
    ):
        jsonschema.validate(look(run, "--text", text), schema)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--text", "  "], "nothing to look up"),
        (["--text", "x", "log.txt"], "not from both"),
        (["missing.txt"], "missing.txt"),
        (["--at", "v9", "--text", "x"], "no revision 'v9'"),
        (["--format", "yaml", "--text", "x"], "yaml"),
    ],
)
def test_bad_input(run, releases, arguments, words):
    done = run("lookup", *arguments)
    assert done.code == 2
    assert words in done.err
    assert done.out == ""


@pytest.mark.index
def test_real_releases(run, place, monkeypatch):
    """Texts of JAX that stand in a list, in an exception class, and at a call in another file."""
    place.configure("file:///nowhere", paths='["jax/**/*.py"]')
    monkeypatch.setenv("TRACKER_UPSTREAM_PACKAGE", "jax")
    answer = look(
        run,
        "--at",
        "release:0.4.30",
        "--no-history",
        "--text",
        "ValueError: vmap got inconsistent sizes for array axes to be mapped:\n  * one axis had size 2: axis 0 of "
        "argument x of type float32[2];\n  * one axis had size 3: axis 0 of argument y of type float32[3]\n\n"
        "During handling of the above exception, another exception occurred:\n\n"
        "jax.errors.TracerBoolConversionError: Attempted boolean conversion of traced array with shape bool[].\n\n"
        "During handling of the above exception, another exception occurred:\n\n"
        "ConcretizationTypeError: The size argument of jnp.nonzero must be statically specified to use jnp.nonzero "
        "within JAX transformations.",
    )
    assert [one["verdict"] for one in answer["errors"]] == ["match"] * 3
    assert [one["matches"][0]["site"]["scope"] for one in answer["errors"]] == [
        "_mapped_axis_size",
        "concretization_function_error.error",
        "concrete_or_error",
    ]
