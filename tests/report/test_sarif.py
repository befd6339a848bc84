"""SARIF against its own JSON Schema, and what the schema cannot say."""

from __future__ import annotations

import json
import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings

from tests.report.hostile import reports
from tracker.model import Kind
from tracker.report.sarif import render
from tracker.report.screen import Screen

GOLDEN = Path(__file__).parent.parent / "golden" / "report.sarif"
SCHEMA = jsonschema.Draft4Validator(
    json.loads((Path(__file__).parent / "sarif" / "schema.json").read_text(encoding="utf-8"))
)


def run_of(report) -> dict[str, Any]:
    return json.loads(render(report, Screen()))["runs"][0]


def test_the_whole_report(report):
    text = render(report, Screen())
    if "REWRITE_GOLDEN" in os.environ:
        GOLDEN.write_text(text, encoding="utf-8")
    assert text == GOLDEN.read_text(encoding="utf-8")


def test_the_schema_refuses_something_else(report):
    log = json.loads(render(report, Screen()))
    log["runs"][0]["results"][0]["level"] = "fatal"
    assert not SCHEMA.is_valid(log)


@given(reports())
@settings(max_examples=40, deadline=None)
def test_any_report_is_valid(report):
    text = render(report, Screen())
    text.encode()
    SCHEMA.validate(json.loads(text))
    assert text == render(report, Screen())


@given(reports())
@settings(max_examples=40, deadline=None)
def test_a_message_has_neither_placeholders_nor_links(report):
    for result in run_of(report)["results"]:
        text = result["message"]["text"]
        assert not re.search(r"[{}]", re.sub(r"\{\{|\}\}", "", text))
        assert "](" not in text


def test_levels_states_and_rules(report):
    results = run_of(report)["results"]
    assert [(one["ruleId"], one["level"], one["baselineState"], one.get("kind", "fail")) for one in results] == [
        ("reworded", "error", "updated", "fail"),
        ("removed", "error", "absent", "fail"),
        ("retyped", "error", "updated", "fail"),
        ("guard-changed", "warning", "updated", "fail"),
        ("placeholder-changed", "note", "updated", "fail"),
        ("excerpt-changed", "none", "unchanged", "informational"),
        ("new", "warning", "new", "fail"),
    ]
    rules = run_of(report)["tool"]["driver"]["rules"]
    assert all(rules[one["ruleIndex"]]["id"] == one["ruleId"] for one in results)
    assert {rule["id"] for rule in rules} == {str(kind) for kind in Kind}


def test_each_place_is_in_its_own_revision(report):
    results = run_of(report)["results"]
    roots = [
        [
            place["physicalLocation"]["artifactLocation"]["uriBaseId"]
            for place in (*one["locations"], *one.get("relatedLocations", ()))
        ]
        for one in results
    ]
    both = ["TARGET", "BASE"]
    assert roots == [both, ["BASE", "TARGET"], both, both, both, both, ["TARGET"]]
    provenance = run_of(report)["versionControlProvenance"]
    # The base is a release, which upstream knows by the commit it was made from.
    assert [(one["mappedTo"]["uriBaseId"], one["revisionId"]) for one in provenance] == [
        ("TARGET", "2" * 40),
        ("BASE", "9" * 40),
    ]


def test_a_page_of_another_pin_has_a_root_of_its_own(report):
    pinned = replace(report, base=None, drifts=(replace(report.drifts[0], origin="abcdef0123"),))
    run = run_of(pinned)
    (result,) = run["results"]
    root = result["relatedLocations"][0]["physicalLocation"]["artifactLocation"]["uriBaseId"]
    assert root == "PIN-abcdef0123"
    assert set(run["originalUriBaseIds"]) == {"TARGET", root}
    assert run["versionControlProvenance"][1] == {
        "repositoryUri": "https://github.com/a/b", "revisionId": "abcdef0123", "mappedTo": {"uriBaseId": root},
    }  # fmt: skip


def shifted(report, lines: int):
    """The same report after so many lines were put above everything at the target."""
    drifts = [replace(one, after=one.after and one.after.shifted(lines)) for one in report.drifts]
    target = replace(report.target, commit="7" * 40, name="v3")
    return replace(report, target=target, drifts=tuple(drifts))


@pytest.mark.parametrize("lines", [1, 100])
def test_fingerprints_stay_when_lines_move(report, lines):
    def known(one) -> list[dict[str, str]]:
        return [result["partialFingerprints"] for result in run_of(one)["results"]]

    assert known(shifted(report, lines)) == known(report)


def test_a_catalogued_error_is_known_by_its_entry(report):
    results = run_of(report)["results"]
    assert results[0]["partialFingerprints"]["entry/v1"] == "0123456789abcdef"
    assert results[0]["partialFingerprints"]["primaryLocationLineHash"] == "0123456789abcdef"
    assert "entry/v1" not in results[-1]["partialFingerprints"]
    assert set(results[-1]["partialFingerprints"]) == {"site/v1", "primaryLocationLineHash"}


def test_the_target_of_one_run_is_the_baseline_of_the_next(report):
    following = replace(report, base=report.target, target=replace(report.target, commit="7" * 40))
    assert run_of(following)["baselineGuid"] == run_of(report)["automationDetails"]["guid"]
    assert "baselineGuid" not in run_of(replace(report, base=None))
