"""langchain-openai, with its default settings."""

from serve import serve

# docs:begin
from langchain_openai import ChatOpenAI


def complete(base_url, api_key, model, prompt, headers=None):
    chat = ChatOpenAI(model=model, base_url=base_url, api_key=api_key, max_tokens=200)
    message = chat.invoke(prompt, extra_headers=headers)
    return message.text


def describe(error):
    """What a program reads from an error: LangChain's classes for some are the openai SDK's, too."""
    return {
        "class": type(error).__name__,
        "bases": [base.__name__ for base in type(error).__mro__ if base.__module__ == "openai"],
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
    chat = ChatOpenAI(model=model, base_url=base_url, api_key=api_key, max_tokens=200)
    message = None
    for chunk in chat.stream(prompt):
        message = chunk if message is None else message + chunk
    return {"text": message.text, "finishReason": message.response_metadata.get("finish_reason")}


def call_tool(base_url, api_key, model, prompt):
    from langchain_core.messages import HumanMessage
    from langchain_core.tools import tool

    cities = []

    @tool
    def weather(city: str) -> str:
        """The weather in a city."""
        cities.append(city)
        return "12 degrees"

    chat = ChatOpenAI(model=model, base_url=base_url, api_key=api_key, max_tokens=200).bind_tools([weather])
    messages = [HumanMessage(prompt)]
    first = chat.invoke(messages)
    messages.append(first)
    messages.extend(weather.invoke(call) for call in first.tool_calls)
    return {"text": chat.invoke(messages).text, "cities": cities}


def structured(base_url, api_key, model, prompt):
    chat = ChatOpenAI(model=model, base_url=base_url, api_key=api_key, max_tokens=200)
    return chat.with_structured_output(Place).invoke(prompt).model_dump()


def stream_structured(base_url, api_key, model, prompt):
    chat = ChatOpenAI(model=model, base_url=base_url, api_key=api_key, max_tokens=200)
    *_, last = chat.with_structured_output(Place).stream(prompt)
    return last.model_dump()


commands = {
    "complete": complete,
    "stream": stream,
    "callTool": call_tool,
    "structured": structured,
    "streamStructured": stream_structured,
}
serve(commands, describe)
