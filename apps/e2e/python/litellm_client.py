"""LiteLLM as a client, with its default settings."""

import json

from serve import serve

# docs:begin
import litellm


def complete(base_url, api_key, model, prompt, headers=None):
    completion = litellm.completion(
        model=f"openai/{model}",  # the prefix picks the protocol and is taken off
        api_base=base_url,
        api_key=api_key,
        messages=[{"role": "user", "content": prompt}],
        max_tokens=200,
        extra_headers=headers,
    )
    return completion.choices[0].message.content


def describe(error):
    """What a program reads from an error: LiteLLM keeps the status, and the envelope in what it was made from."""
    cause = error
    while cause and not isinstance(getattr(cause, "body", None), dict):
        cause = cause.__context__
    envelope = cause.body if cause else {}
    headers = getattr(error, "litellm_response_headers", None) or {}
    return {
        "class": type(error).__name__,
        "status": error.status_code,
        "ownCode": error.code,
        "code": envelope.get("code"),
        "type": envelope.get("type"),
        "param": envelope.get("param"),
        "metadata": envelope.get("metadata"),
        "requestId": headers.get("x-request-id"),
    }
# docs:end
from pydantic import BaseModel


class Place(BaseModel):
    city: str


def stream(base_url, api_key, model, prompt):
    text, finish_reason = "", None
    for chunk in litellm.completion(
        model=f"openai/{model}",
        api_base=base_url,
        api_key=api_key,
        messages=[{"role": "user", "content": prompt}],
        max_tokens=200,
        stream=True,
    ):
        text += chunk.choices[0].delta.content or ""
        finish_reason = chunk.choices[0].finish_reason or finish_reason
    return {"text": text, "finishReason": finish_reason}


def call_tool(base_url, api_key, model, prompt):
    parameters = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    tools = [{"type": "function", "function": {"name": "weather", "parameters": parameters}}]
    messages = [{"role": "user", "content": prompt}]
    complete_chat = lambda: litellm.completion(
        model=f"openai/{model}", api_base=base_url, api_key=api_key, messages=messages, tools=tools, max_tokens=200
    )
    message = complete_chat().choices[0].message
    messages.append(message)
    cities = []
    for call in message.tool_calls:
        cities.append(json.loads(call.function.arguments)["city"])
        messages.append({"role": "tool", "tool_call_id": call.id, "content": "12 degrees"})
    return {"text": complete_chat().choices[0].message.content, "cities": cities}


def structured(base_url, api_key, model, prompt):
    completion = litellm.completion(
        model=f"openai/{model}",
        api_base=base_url,
        api_key=api_key,
        messages=[{"role": "user", "content": prompt}],
        max_tokens=200,
        response_format=Place,
    )
    return Place.model_validate_json(completion.choices[0].message.content).model_dump()


def stream_structured(base_url, api_key, model, prompt):
    chunks = litellm.completion(
        model=f"openai/{model}",
        api_base=base_url,
        api_key=api_key,
        messages=[{"role": "user", "content": prompt}],
        max_tokens=200,
        response_format=Place,
        stream=True,
    )
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
    return Place.model_validate_json(text).model_dump()


commands = {
    "complete": complete,
    "stream": stream,
    "callTool": call_tool,
    "structured": structured,
    "streamStructured": stream_structured,
}
serve(commands, describe)
