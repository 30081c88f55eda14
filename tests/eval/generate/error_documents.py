"""Errors of endpoints by a name of ours: status and document, in the forms in which the named servers write them."""

from __future__ import annotations

from typing import Any


def _openai(message: str, code: str | None, param: str | None = None) -> dict[str, Any]:
    return {"error": {"message": message, "type": "invalid_request_error", "param": param, "code": code}}


_FILTERED = "The response was filtered due to the prompt triggering the content management policy."

ERRORS: dict[str, tuple[int, object]] = {
    "quota": (429, _openai("You exceeded your current quota, please check your plan.", "insufficient_quota")),
    "credit": (402, {"error": {"code": 402, "message": "This request requires more credits."}}),
    "unknown-model": (404, _openai("The model `m` does not exist or you do not have access.", "model_not_found")),
    "unknown-model-vllm": (
        404,
        {"object": "error", "message": "The model `m` does not exist.", "type": "NotFoundError", "code": 404},
    ),
    "unknown-model-litellm": (
        400,
        {"error": {"message": "Invalid model name passed in model=m", "type": None, "param": "model", "code": "400"}},
    ),
    "unknown-model-ollama": (404, {"error": 'model "m" not found, try pulling it first'}),
    "unknown-model-openrouter": (400, {"error": {"message": "m is not a valid model ID", "code": 400}}),
    "upstream": (400, _openai("Upstream request failed", "upstream_error")),
    "wrong-url": (404, _openai("Invalid URL (POST /v1/v1/chat/completions)", None)),
    "wrong-url-fastapi": (404, {"detail": "Not Found"}),
    "wrong-url-lm-studio": (200, {"error": "Unexpected endpoint or method. (POST /chat/completions)"}),
    "max-tokens": (
        400,
        _openai(
            "Unsupported parameter: 'max_tokens' is not supported with this model. "
            "Use 'max_completion_tokens' instead.",
            "unsupported_parameter",
            "max_tokens",
        ),
    ),
    "temperature": (
        400,
        _openai(
            "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) is supported.",
            "unsupported_value",
            "temperature",
        ),
    ),
    "stop": (400, _openai("Unsupported parameter: 'stop' is not supported.", "unsupported_parameter", "stop")),
    "effort": (
        422,
        {"detail": [{"type": "extra", "loc": ["body", "reasoning_effort"], "msg": "Extra inputs are not permitted"}]},
    ),
    "context": (
        400,
        _openai(
            "This model's maximum context length is 8192 tokens. However, your messages resulted in 31228 tokens.",
            "context_length_exceeded",
            "messages",
        ),
    ),
    "context-vllm": (
        400,
        {
            "object": "error",
            "message": "max_tokens must be at least 1, got -186.",
            "type": "BadRequestError",
            "param": None,
            "code": 400,
        },
    ),
    "filter-azure": (
        400,
        {
            "error": {
                "message": _FILTERED,
                "type": None,
                "param": "prompt",
                "code": "content_filter",
                "status": 400,
                "innererror": {"code": "ResponsibleAIPolicyViolation"},
            }
        },
    ),
    "moderation-openrouter": (
        403,
        {"error": {"code": 403, "message": "Input was flagged", "metadata": {"reasons": ["violence"]}}},
    ),
    "key-gemini": (
        400,
        [{"error": {"code": 400, "message": "API key not valid. Please pass one.", "status": "INVALID_ARGUMENT"}}],
    ),
    "key-litellm": (
        400,
        {"error": {"message": "No connected db.", "type": "no_db_connection", "param": None, "code": "400"}},
    ),
    "only-streams": (
        400,
        _openai("This model only support stream mode, please enable the stream parameter.", "invalid_parameter_error"),
    ),
    "no-stream-options": (400, _openai("Unrecognized request argument supplied: stream_options", None)),
    "no-stream": (
        400,
        _openai("Unsupported value: 'stream' does not support true with this model.", "unsupported_value", "stream"),
    ),
    "provider-openrouter": (
        200,
        {
            "error": {
                "message": "Provider returned error",
                "code": 502,
                "metadata": {"raw": "upstream is down", "provider_name": "P"},
            }
        },
    ),
    "plain": (400, _openai("Something else.\x1b[2J\nSecond line. " + "long " * 200, None)),
    "text-200": (200, {"error": "out of memory"}),
}
