"""GitHub's own description of the operations that the tracker uses, as a judge of requests and answers."""

from __future__ import annotations

import json
from functools import cache, lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from openapi_core import OpenAPI
from openapi_core.exceptions import OpenAPIError
from openapi_core.testing import MockRequest, MockResponse

DESCRIPTION = Path(__file__).with_name("description") / "github.json"


@cache
def description() -> OpenAPI:
    """GitHub's description of the operations that the tracker uses."""
    return OpenAPI.from_dict(json.loads(DESCRIPTION.read_text(encoding="utf-8")))


@cache
def _query_names() -> set[str]:
    """What may stand in a query. GitHub ignores the rest, and so would every misspelt word be."""
    whole = json.loads(DESCRIPTION.read_text(encoding="utf-8"))
    named = list(whole["components"]["parameters"].values())
    named += [one for path in whole["paths"].values() for verb in path.values() for one in _parameters(verb)]
    return {one["name"] for one in named if one.get("in") == "query"}


def _parameters(verb: Any) -> list[dict[str, Any]]:
    return verb.get("parameters", []) if isinstance(verb, dict) else []


def check_request(method: str, path: str, headers: dict[str, str], body: bytes | None) -> None:
    """OpenAPIError: GitHub would not know what to do with it."""
    _check_request(method, path, headers.get("authorization"), headers.get("content-type", ""), body)


# A validation takes milliseconds, and most exchanges are repetitions: the same bytes have the same verdict.
@lru_cache(maxsize=4096)
def _check_request(method: str, path: str, token: str | None, kind: str, body: bytes | None) -> None:
    unknown = set(parse_qs(urlsplit(path).query, keep_blank_values=True)) - _query_names()
    if unknown:
        raise OpenAPIError(f"no query has {', '.join(sorted(unknown))}")
    description().validate_request(_request(method, path, token, kind, body))


@lru_cache(maxsize=4096)
def check_response(method: str, path: str, status: int, body: bytes) -> None:
    """OpenAPIError: GitHub would not answer so."""
    answer = MockResponse(data=body, status_code=status, content_type="application/json")
    description().validate_response(_request(method, path, "Bearer x", "application/json", None), answer)


def _request(method: str, path: str, token: str | None, kind: str, body: bytes | None) -> MockRequest:
    parts = urlsplit(path)
    return MockRequest(
        "http://localhost",
        method.lower(),
        parts.path,
        args={name: values[-1] for name, values in parse_qs(parts.query, keep_blank_values=True).items()},
        headers={"Authorization": token} if token is not None else {},
        data=body,
        content_type=kind,
    )


def why(error: BaseException) -> str:
    """What a verdict is based on, in one line."""
    parts = []
    step: BaseException | None = error
    while step is not None:
        details = getattr(step, "schema_errors", None)
        parts += [str(detail.message)[:300] for detail in details] if details else [str(step)[:300]]
        step = step.__cause__
    return " / ".join(parts)
