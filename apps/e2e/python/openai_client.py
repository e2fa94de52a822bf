"""The official openai Python SDK, with its default settings."""

import json

from serve import serve

# docs:begin
from openai import OpenAI


def complete(base_url, api_key, model, prompt, headers=None):
    client = OpenAI(base_url=base_url, api_key=api_key)
    completion = client.chat.completions.create(
        model=model,
        messages=[{"role": "user", "content": prompt}],
        max_tokens=200,
        extra_headers=headers,  # for an Idempotency-Key
    )
    return completion.choices[0].message.content


def describe(error):
    """What a program reads from an error."""
    return {
        "class": type(error).__name__,
        "status": getattr(error, "status_code", None),
        "code": error.code,
        "type": error.type,
        "param": error.param,
        "metadata": (error.body or {}).get("metadata"),
        "requestId": getattr(error, "request_id", None),
    }
# docs:end
from pydantic import BaseModel


class Place(BaseModel):
    city: str


def stream(base_url, api_key, model, prompt):
    client = OpenAI(base_url=base_url, api_key=api_key)
    text, finish_reason = "", None
    for chunk in client.chat.completions.create(
        model=model, messages=[{"role": "user", "content": prompt}], max_tokens=200, stream=True
    ):
        text += chunk.choices[0].delta.content or ""
        finish_reason = chunk.choices[0].finish_reason or finish_reason
    return {"text": text, "finishReason": finish_reason}


def call_tool(base_url, api_key, model, prompt):
    client = OpenAI(base_url=base_url, api_key=api_key)
    parameters = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    tools = [{"type": "function", "function": {"name": "weather", "parameters": parameters}}]
    messages = [{"role": "user", "content": prompt}]
    complete_chat = lambda: client.chat.completions.create(model=model, messages=messages, tools=tools, max_tokens=200)
    message = complete_chat().choices[0].message
    messages.append(message)
    cities = []
    for call in message.tool_calls:
        cities.append(json.loads(call.function.arguments)["city"])
        messages.append({"role": "tool", "tool_call_id": call.id, "content": "12 degrees"})
    return {"text": complete_chat().choices[0].message.content, "cities": cities}


def structured(base_url, api_key, model, prompt):
    client = OpenAI(base_url=base_url, api_key=api_key)
    completion = client.chat.completions.parse(
        model=model, messages=[{"role": "user", "content": prompt}], max_tokens=200, response_format=Place
    )
    return completion.choices[0].message.parsed.model_dump()


def stream_structured(base_url, api_key, model, prompt):
    client = OpenAI(base_url=base_url, api_key=api_key)
    with client.chat.completions.stream(
        model=model, messages=[{"role": "user", "content": prompt}], max_tokens=200, response_format=Place
    ) as chunks:
        return chunks.get_final_completion().choices[0].message.parsed.model_dump()


commands = {
    "complete": complete,
    "stream": stream,
    "callTool": call_tool,
    "structured": structured,
    "streamStructured": stream_structured,
}
serve(commands, describe)
