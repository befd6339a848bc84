"""Makes `github.json`, the part of GitHub's own OpenAPI description that the tracker uses, from the npm package
`@octokit/openapi` (MIT, see LICENSE beside it):

    npm pack @octokit/openapi && tar xzf octokit-openapi-*.tgz
    python tests/github/description/filter.py package/generated/api.github.com.json

Nothing is changed but what would let a wrong request pass: bodies may hold no unknown field, a token is required, and
the lengths that GitHub refuses but does not describe are added.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

OPERATIONS = {
    "/user": ["get"],
    "/repos/{owner}/{repo}": ["get"],
    "/repos/{owner}/{repo}/issues": ["get", "post"],
    "/repos/{owner}/{repo}/issues/{issue_number}": ["get", "patch"],
    "/repos/{owner}/{repo}/issues/{issue_number}/comments": ["get", "post"],
}
UNUSED = ("examples", "example", "x-github", "externalDocs")


def filtered(whole: dict[str, Any]) -> dict[str, Any]:
    """The operations, and the components that they reach."""
    paths = {
        path: {
            "parameters": whole["paths"][path].get("parameters", []),
            **{verb: whole["paths"][path][verb] for verb in verbs},
        }
        for path, verbs in OPERATIONS.items()
    }
    small: dict[str, Any] = {
        "openapi": whole["openapi"],
        "info": {"title": whole["info"]["title"], "version": whole["info"]["version"]},
        "servers": [{"url": "/"}],
        "security": [{"token": []}],
        "paths": _lean(paths),
        "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
    }
    waiting = list(_references(small["paths"]))
    while waiting:
        _, _, kind, name = waiting.pop().split("/")
        kept = small["components"].setdefault(kind, {})
        if name not in kept:
            kept[name] = _lean(whole["components"][kind][name])
            waiting += _references(kept[name])
    _strict(small)
    return small


def _strict(small: dict[str, Any]) -> None:
    for path, verbs in OPERATIONS.items():
        for verb in verbs:
            body = small["paths"][path][verb].get("requestBody")
            if body is None:
                continue
            body["required"] = True
            schema = body["content"]["application/json"]["schema"]
            schema["additionalProperties"] = False
            fields = schema["properties"]
            for field in fields.values():
                if "nullable" in field and "type" not in field:
                    field["type"] = "integer" if "integer" in json.dumps(field) else "string"
            if "title" in fields:
                fields["title"] = {"type": "string", "minLength": 1, "maxLength": 256}
            if "body" in fields:
                fields["body"] = {"type": "string", "maxLength": 65536}
    _nulls(small)
    # A token that may ask gets its own account, with or without what is private; the description says exactly one.
    user = small["paths"]["/user"]["get"]["responses"]["200"]["content"]["application/json"]
    user["schema"] = {"anyOf": user["schema"]["oneOf"]}
    page = small["components"]["parameters"]["per-page"]["schema"]
    page["maximum"] = 100


def _nulls(node: Any) -> None:
    """What may be null and is one of a list: null is one of the list, which OpenAPI 3.0 wants said twice."""
    if isinstance(node, dict):
        if node.get("nullable") and isinstance(node.get("enum"), list) and None not in node["enum"]:
            node["enum"].append(None)
        for value in node.values():
            _nulls(value)
    elif isinstance(node, list):
        for item in node:
            _nulls(item)


def _lean(node: Any) -> Any:
    """Without examples and prose; a response must have a description, if only an empty one."""
    if isinstance(node, dict):
        return {
            key: "" if key == "description" and isinstance(value, str) else _lean(value)
            for key, value in node.items()
            if key not in UNUSED
        }
    return [_lean(item) for item in node] if isinstance(node, list) else node


def _references(node: Any) -> list[str]:
    if isinstance(node, dict):
        own = [node["$ref"]] if isinstance(node.get("$ref"), str) else []
        return own + [found for value in node.values() for found in _references(value)]
    return [found for item in node for found in _references(item)] if isinstance(node, list) else []


if __name__ == "__main__":
    source = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    target = Path(__file__).with_name("github.json")
    target.write_text(json.dumps(filtered(source), indent=1, sort_keys=True) + "\n", encoding="utf-8")
