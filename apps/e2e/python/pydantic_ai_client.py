"""pydantic-ai, with its model for chat completions."""

from serve import serve

from pydantic import BaseModel
from pydantic_ai import Agent, NativeOutput
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider


class Place(BaseModel):
    city: str


def agent(base_url, api_key, model, **options):
    provider = OpenAIProvider(base_url=base_url, api_key=api_key)
    return Agent(OpenAIChatModel(model, provider=provider), **options)


def complete(base_url, api_key, model, prompt):
    return agent(base_url, api_key, model).run_sync(prompt).output


def stream(base_url, api_key, model, prompt):
    import asyncio

    async def text():
        async with agent(base_url, api_key, model).run_stream(prompt) as result:
            return "".join([delta async for delta in result.stream_text(delta=True)])

    return {"text": asyncio.run(text())}


def call_tool(base_url, api_key, model, prompt):
    cities = []

    def weather(city: str) -> str:
        """The weather in a city."""
        cities.append(city)
        return "12 degrees"

    return {"text": agent(base_url, api_key, model, tools=[weather]).run_sync(prompt).output, "cities": cities}


def structured(base_url, api_key, model, prompt):
    return agent(base_url, api_key, model, output_type=NativeOutput(Place)).run_sync(prompt).output.model_dump()


def stream_structured(base_url, api_key, model, prompt):
    import asyncio

    async def place():
        async with agent(base_url, api_key, model, output_type=NativeOutput(Place)).run_stream(prompt) as result:
            return await result.get_output()

    return asyncio.run(place()).model_dump()


commands = {
    "complete": complete,
    "stream": stream,
    "callTool": call_tool,
    "structured": structured,
    "streamStructured": stream_structured,
}
serve(commands)
