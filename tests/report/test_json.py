"""The contract: its schema describes what is printed, and odd text cannot break it."""

from __future__ import annotations

import json
from dataclasses import replace

import jsonschema
import pytest

from tracker.cli import main
from tracker.model import Kind
from tracker.report.formats import FORMATS, render
from tracker.report.json import line, schema
from tracker.report.screen import Screen


def test_what_is_printed_is_what_the_schema_says(report):
    printed = json.loads(render("json", report, Screen()))
    jsonschema.validate(printed, schema())
    assert [drift["severity"] for drift in printed["drifts"]] == [
        "error", "error", "error", "warning", "notice", "info", "warning",
    ]  # fmt: skip
    assert printed["drifts"][0]["cause"] == {
        "commit": "c" * 40, "author": "Ada", "date": "2026-09-03", "subject": "Say list", "pull_request": 123,
    }  # fmt: skip
    assert printed["drifts"][1]["after"] is None
    assert printed["coverage"]["partial_files"] == ["pkg/c.py"]


def test_the_schema_refuses_something_else(report):
    printed = json.loads(render("json", report, Screen()))
    printed["drifts"][0]["kinds"] = ["renamed"]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(printed, schema())


def test_the_command_prints_the_schema(capsys):
    assert main(["schema"]) == 0
    assert json.loads(capsys.readouterr().out) == schema()


def test_every_kind_is_counted(report):
    counts = json.loads(render("json", report, Screen()))["summary"]
    assert set(counts) == {"checked", "unchanged", *map(str, Kind)}


def test_lone_surrogates_are_shown_not_fatal(report):
    odd = replace(report.drifts[0].before, path="pkg/\udcff.py", message="half \ud83d")
    assert json.loads(line(odd))["message"] == "half \\ud83d"
    for name in FORMATS:
        report = replace(report, drifts=(replace(report.drifts[0], before=odd),))
        render(name, report, Screen()).encode("utf-8", "backslashreplace")
