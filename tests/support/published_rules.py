"""Field rules of formats that others publish, as data, and what of a document breaks them.

A rule is a small part of JSON Schema. Each names its source; what a source leaves open is left open here.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Rule = Mapping[str, Any]

_TEXT: Rule = {"type": "string", "minLength": 1}
_TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)"  # RFC 3339
_SEMVER = r"\d+\.\d+\.\d+([-+][0-9A-Za-z.+-]+)?"

# CloudEvents 1.0.2, "JSON Event Format" and "Context Attributes", and cloudevents/formats/cloudevents.json: names are
# lower-case letters and digits, but for the one of data in base 64.
CLOUDEVENT: Rule = {
    "type": "object",
    "required": ["id", "source", "specversion", "type"],
    "names": r"[a-z0-9]+|data_base64",
    "properties": {
        "id": _TEXT,
        "source": {**_TEXT, "pattern": r"\S+"},  # a URI, or a reference
        "specversion": {"enum": ["1.0"]},
        "type": _TEXT,
        "datacontenttype": {**_TEXT, "pattern": r"[\w.+-]+/[\w.+-]+(;.*)?"},
        "dataschema": {**_TEXT, "pattern": r"[A-Za-z][A-Za-z0-9+.-]*:\S+"},
        "data_base64": {"type": "string", "pattern": r"[A-Za-z0-9+/]*={0,2}"},
        "subject": _TEXT,
        "time": {"type": "string", "pattern": _TIME},
    },
}

# OTLP 1.x as JSON, opentelemetry/proto/{logs,common,resource}/v1: 64-bit numbers are decimal texts, enums are numbers,
# ids are hexadecimal; a value is one of its alternatives, or none.
_UINT: Rule = {"type": "string", "pattern": r"\d{1,20}"}
_COUNT: Rule = {"type": "integer", "minimum": 0, "maximum": 2**32 - 1}
_ANY: dict[str, Any] = {
    "type": "object", "closed": True, "most": 1,
    "properties": {
        "stringValue": {"type": "string"}, "boolValue": {"type": "boolean"}, "doubleValue": {"type": "number"},
        "intValue": {"type": "string", "pattern": r"-?\d{1,19}"},
        "bytesValue": {"type": "string", "pattern": r"[A-Za-z0-9+/]*={0,2}"},
    },
}  # fmt: skip
_KEY_VALUE: Rule = {
    "type": "object", "closed": True, "required": ["key"], "properties": {"key": _TEXT, "value": _ANY},
}  # fmt: skip
_ATTRIBUTES: Rule = {"type": "array", "items": _KEY_VALUE}
_VALUES = {"type": "object", "closed": True}
_ANY["properties"]["arrayValue"] = {**_VALUES, "properties": {"values": {"type": "array", "items": _ANY}}}
_ANY["properties"]["kvlistValue"] = {**_VALUES, "properties": {"values": _ATTRIBUTES}}
_LOG_RECORD: Rule = {
    "type": "object", "closed": True,
    "properties": {
        "timeUnixNano": _UINT, "observedTimeUnixNano": _UINT, "attributes": _ATTRIBUTES, "body": _ANY,
        "severityNumber": {"type": "integer", "minimum": 1, "maximum": 24}, "severityText": {"type": "string"},
        "eventName": {"type": "string"}, "droppedAttributesCount": _COUNT, "flags": _COUNT,
        "traceId": {"type": "string", "pattern": "[0-9A-Fa-f]{32}"},
        "spanId": {"type": "string", "pattern": "[0-9A-Fa-f]{16}"},
    },
}  # fmt: skip
_SCOPE: Rule = {
    "type": "object", "closed": True,
    "properties": {
        "name": {"type": "string"}, "version": {"type": "string"}, "attributes": _ATTRIBUTES,
        "droppedAttributesCount": _COUNT,
    },
}  # fmt: skip
_SCOPE_LOGS: Rule = {
    "type": "object", "closed": True,
    "properties": {
        "scope": _SCOPE, "logRecords": {"type": "array", "items": _LOG_RECORD}, "schemaUrl": {"type": "string"},
    },
}  # fmt: skip
_RESOURCE: Rule = {
    "type": "object", "closed": True,
    "properties": {"attributes": _ATTRIBUTES, "droppedAttributesCount": _COUNT, "entityRefs": {"type": "array"}},
}  # fmt: skip
OTLP_LOGS: Rule = {
    "type": "object", "closed": True, "required": ["resourceLogs"],
    "properties": {"resourceLogs": {"type": "array", "items": {
        "type": "object", "closed": True,
        "properties": {
            "resource": _RESOURCE, "scopeLogs": {"type": "array", "items": _SCOPE_LOGS}, "schemaUrl": {"type": "string"},
        },
    }}},
}  # fmt: skip

# Agent Trajectory Interchange Format 1.4 (Harbor, docs/rfcs/0001-trajectory-format.md).
_STEP: Rule = {
    "type": "object", "closed": True, "required": ["step_id", "source", "message"],
    "properties": {
        "step_id": {"type": "integer", "minimum": 1}, "timestamp": {"type": "string", "pattern": _TIME},
        "source": {"enum": ["system", "user", "agent"]}, "message": {"type": "string"}, "model_name": _TEXT,
        "reasoning_content": {"type": "string"}, "tool_calls": {"type": "array"}, "observation": {"type": "object"},
        "metrics": {"type": "object"}, "extra": {"type": "object"},
    },
}  # fmt: skip
ATIF: Rule = {
    "type": "object", "closed": True, "required": ["schema_version", "session_id", "agent", "steps"],
    "properties": {
        "schema_version": {"enum": ["ATIF-v1.4"]}, "session_id": _TEXT, "notes": {"type": "string"},
        "agent": {
            "type": "object", "closed": True, "required": ["name", "version"],
            "properties": {"name": _TEXT, "version": _TEXT, "model_name": _TEXT, "extra": {"type": "object"}},
        },
        "steps": {"type": "array", "minItems": 1, "items": _STEP},
        "final_metrics": {"type": "object"}, "extra": {"type": "object"},
    },
}  # fmt: skip

# MCPB manifest 0.3 (modelcontextprotocol/mcpb, MANIFEST.md and schemas/mcpb-manifest-v0.3.schema.json).
_WORDS: Rule = {"type": "array", "items": {"type": "string"}}
_COMMAND = {"command": _TEXT, "args": _WORDS, "env": {"type": "object"}}
BUNDLE: Rule = {
    "type": "object", "closed": True,
    "required": ["manifest_version", "name", "version", "description", "author", "server"],
    "properties": {
        "$schema": {"type": "string"}, "manifest_version": {"enum": ["0.3"]}, "name": _TEXT,
        "display_name": {"type": "string"}, "version": {"type": "string", "pattern": _SEMVER},
        "description": _TEXT, "long_description": {"type": "string"}, "license": {"type": "string"},
        "author": {
            "type": "object", "closed": True, "required": ["name"],
            "properties": {"name": _TEXT, "email": {"type": "string"}, "url": {"type": "string"}},
        },
        "repository": {
            "type": "object", "closed": True, "required": ["type", "url"], "properties": {"type": _TEXT, "url": _TEXT},
        },
        "homepage": _TEXT, "documentation": _TEXT, "support": _TEXT, "icon": _TEXT, "icons": {"type": "array"},
        "screenshots": _WORDS, "localization": {"type": "object"}, "keywords": _WORDS, "privacy_policies": _WORDS,
        "server": {
            "type": "object", "closed": True, "required": ["type", "entry_point", "mcp_config"],
            "properties": {
                "type": {"enum": ["python", "node", "binary"]}, "entry_point": _TEXT,
                "mcp_config": {
                    "type": "object", "closed": True, "required": ["command"],
                    "properties": {**_COMMAND, "platform_overrides": {"type": "object"}},
                },
            },
        },
        "tools": {"type": "array", "items": {
            "type": "object", "closed": True, "required": ["name"],
            "properties": {"name": _TEXT, "description": {"type": "string"}},
        }},
        "tools_generated": {"type": "boolean"}, "prompts": {"type": "array"}, "prompts_generated": {"type": "boolean"},
        "compatibility": {"type": "object", "closed": True, "properties": {
            "claude_desktop": {"type": "string"}, "runtimes": {"type": "object"},
            "platforms": {"type": "array", "items": {"enum": ["darwin", "win32", "linux"]}},
        }},
        "user_config": {"type": "object"}, "_meta": {"type": "object"},
    },
}  # fmt: skip

# The MCP registry's server.json, schema 2025-12-11; packages have no other fields.
REGISTRY_ENTRY: Rule = {
    "type": "object", "required": ["$schema", "name", "description", "version"],
    "properties": {
        "$schema": {"enum": ["https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"]},
        "name": {"type": "string", "minLength": 3, "maxLength": 200, "pattern": r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+"},
        "title": {"type": "string", "minLength": 1, "maxLength": 100},
        "description": {"type": "string", "minLength": 1, "maxLength": 100},
        "version": {"type": "string", "minLength": 1, "maxLength": 255},
        "packages": {"type": "array", "items": {
            "type": "object", "closed": True, "required": ["registryType", "identifier", "transport"],
            "properties": {
                "registryType": {"enum": ["npm", "pypi", "oci", "nuget", "mcpb"]}, "identifier": _TEXT,
                "registryBaseUrl": _TEXT, "fileSha256": {"type": "string", "pattern": "[a-f0-9]{64}"},
                "runtimeArguments": {"type": "array"}, "environmentVariables": {"type": "array"},
                "version": {**_TEXT, "pattern": r"(?!latest$).+"}, "runtimeHint": _TEXT,
                "transport": {"type": "object", "required": ["type"], "properties": {
                    "type": {"enum": ["stdio", "streamable-http", "sse"]},
                }},
                "packageArguments": {"type": "array", "items": {
                    "type": "object", "required": ["type"], "properties": {"type": {"enum": ["positional", "named"]}},
                }},
            },
        }},
    },
}  # fmt: skip

# Plugins of Claude Code (code.claude.com/docs/en/plugins-reference), whose form other hosts have taken.
PLUGIN: Rule = {
    "type": "object", "required": ["name"],
    "properties": {
        "name": {"type": "string", "pattern": r"[a-z0-9]+(-[a-z0-9]+)*"},
        "version": {"type": "string", "pattern": _SEMVER}, "description": {"type": "string"},
        "keywords": {"type": "array", "items": _TEXT}, "license": {"type": "string"},
        "author": {"type": "object", "required": ["name"]},
    },
}  # fmt: skip

_TYPES: Mapping[str, Any] = {
    "object": dict, "array": list, "string": str, "boolean": bool, "integer": int, "number": (int, float),
}  # fmt: skip


def violations(rule: Rule, found: Any, at: str = "$") -> Iterator[str]:
    """Yield what of a document breaks a rule, each with its place."""
    if "enum" in rule and found not in rule["enum"]:
        yield f"{at}: {found!r} is none of {rule['enum']}"
    kind = rule.get("type")
    if kind and (not isinstance(found, _TYPES[kind]) or (kind != "boolean" and isinstance(found, bool))):
        yield f"{at}: {found!r} is no {kind}"
    elif isinstance(found, dict):
        yield from _of_object(rule, found, at)
    elif isinstance(found, list):
        yield from _of_list(rule, found, at)
    elif isinstance(found, str):
        if not rule.get("minLength", 0) <= len(found) <= rule.get("maxLength", len(found)):
            yield f"{at}: {len(found)} characters"
        if "pattern" in rule and not re.fullmatch(rule["pattern"], found):
            yield f"{at}: {found!r} is not {rule['pattern']}"
    elif isinstance(found, int) and not rule.get("minimum", found) <= found <= rule.get("maximum", found):
        yield f"{at}: {found} is out of bounds"


def _of_object(rule: Rule, found: Mapping[str, Any], at: str) -> Iterator[str]:
    properties: Mapping[str, Rule] = rule.get("properties", {})
    yield from (f"{at}: lacks {name}" for name in rule.get("required", ()) if name not in found)
    if len(found) > rule.get("most", len(found)):
        yield f"{at}: has {len(found)} of its alternatives"
    for name, value in found.items():
        if name in properties:
            yield from violations(properties[name], value, f"{at}.{name}")
        elif rule.get("closed"):
            yield f"{at}: {name} is no field of it"
        if "names" in rule and not re.fullmatch(rule["names"], name):
            yield f"{at}: {name} is no name of a field"


def _of_list(rule: Rule, found: Sequence[Any], at: str) -> Iterator[str]:
    if len(found) < rule.get("minItems", 0):
        yield f"{at}: has too few items"
    for number, item in enumerate(found):
        yield from violations(rule.get("items", {}), item, f"{at}[{number}]")
