"""LlamaIndex, with its class for servers that are like OpenAI."""

from serve import serve

from llama_index.core.llms import ChatMessage
from llama_index.core.tools import FunctionTool
from llama_index.llms.openai_like import OpenAILike
from pydantic import BaseModel


class Place(BaseModel):
    city: str


def connect(base_url, api_key, model):
    return OpenAILike(
        model=model,
        api_base=base_url,
        api_key=api_key,
        is_chat_model=True,
        is_function_calling_model=True,
        should_use_structured_outputs=True,
    )


def complete(base_url, api_key, model, prompt):
    return connect(base_url, api_key, model).chat([ChatMessage(prompt)]).message.content


def stream(base_url, api_key, model, prompt):
    chunks = connect(base_url, api_key, model).stream_chat([ChatMessage(prompt)])
    return {"text": "".join(chunk.delta or "" for chunk in chunks)}


def call_tool(base_url, api_key, model, prompt):
    cities = []

    def weather(city: str) -> str:
        """The weather in a city."""
        cities.append(city)
        return "12 degrees"

    llm = connect(base_url, api_key, model)
    tool = FunctionTool.from_defaults(weather)
    messages = [ChatMessage(prompt)]
    response = llm.chat_with_tools([tool], chat_history=messages)
    messages.append(response.message)
    for call in llm.get_tool_calls_from_response(response):
        result = tool(**call.tool_kwargs)
        messages.append(ChatMessage(str(result), role="tool", additional_kwargs={"tool_call_id": call.tool_id}))
    return {"text": llm.chat_with_tools([tool], chat_history=messages).message.content, "cities": cities}


def structured(base_url, api_key, model, prompt):
    return connect(base_url, api_key, model).as_structured_llm(Place).complete(prompt).raw.model_dump()


serve({"complete": complete, "stream": stream, "callTool": call_tool, "structured": structured})
