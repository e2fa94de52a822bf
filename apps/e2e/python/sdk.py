"""The official openai Python SDK against a running gateway.

Reads GATEWAY_BASE_URL and GATEWAY_API_KEY, and prints "ok" when every check passes.
"""

import json
import os

import openai

client = openai.OpenAI(
    base_url=os.environ["GATEWAY_BASE_URL"],
    api_key=os.environ["GATEWAY_API_KEY"],
    max_retries=0,
)
models = {model.id: model.model_dump() for model in client.models.list()}
PLAIN = next(name for name, model in models.items() if "reasoning" not in model["capabilities"])
HELLO = [{"role": "user", "content": "Hello"}]


def with_capability(capability):
    return next(name for name, model in models.items() if {capability, "reasoning"} & set(model["capabilities"]) == {capability})


def completes():
    completion = client.chat.completions.create(model=PLAIN, messages=HELLO, max_tokens=20)
    assert completion.choices[0].message.content.strip()
    assert completion.usage.completion_tokens > 0


def streams():
    stream = client.chat.completions.create(
        model=PLAIN,
        messages=HELLO,
        max_tokens=20,
        stream=True,
        stream_options={"include_usage": True},
    )
    chunks = list(stream)
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices).strip()
    assert chunks[-1].usage.total_tokens > 0
    plain = list(
        client.chat.completions.create(model=PLAIN, messages=HELLO, max_tokens=20, stream=True)
    )
    assert all(len(chunk.choices) == 1 and chunk.usage is None for chunk in plain)


def calls_tools():
    parameters = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    completion = client.chat.completions.create(
        model=with_capability("tools"),
        messages=HELLO,
        max_tokens=200,
        tools=[{"type": "function", "function": {"name": "weather", "parameters": parameters}}],
    )
    call = completion.choices[0].message.tool_calls[0]
    assert "city" in json.loads(call.function.arguments)


def returns_json():
    completion = client.chat.completions.create(
        model=with_capability("json_mode"),
        messages=HELLO,
        max_tokens=200,
        response_format={"type": "json_object"},
    )
    json.loads(completion.choices[0].message.content)


def raises():
    try:
        client.chat.completions.create(model=PLAIN, messages=HELLO, extra_body={"foo": 1})
    except openai.BadRequestError as error:
        assert (error.code, error.param, error.type) == ("unknown_parameter", "foo", "invalid_request_error")
    else:
        raise AssertionError("no error")
    try:
        client.with_options(api_key="sk-gw-unknown").models.list()
    except openai.AuthenticationError as error:
        assert error.code == "invalid_api_key"
    else:
        raise AssertionError("no error")
    try:
        list(
            client.chat.completions.create(
                model=PLAIN,
                messages=[{"role": "user", "content": "[[fault:cut-after:3]] Hello"}],
                max_tokens=50,
                stream=True,
            )
        )
    except openai.APIError as error:
        assert error.code == "upstream_error"
    else:
        raise AssertionError("no error")


for check in (completes, streams, calls_tools, returns_json, raises):
    check()
print("ok")
