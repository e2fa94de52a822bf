"""openai-agents, with chat completions."""

from serve import serve

from agents import Agent, OpenAIChatCompletionsModel, Runner, function_tool, set_tracing_disabled
from openai import AsyncOpenAI
from pydantic import BaseModel

set_tracing_disabled(True)


class Place(BaseModel):
    city: str


def agent(base_url, api_key, model, **options):
    client = AsyncOpenAI(base_url=base_url, api_key=api_key)
    return Agent(name="guide", model=OpenAIChatCompletionsModel(model, client), **options)


def complete(base_url, api_key, model, prompt):
    return Runner.run_sync(agent(base_url, api_key, model), prompt).final_output


def stream(base_url, api_key, model, prompt):
    import asyncio

    async def text():
        result = Runner.run_streamed(agent(base_url, api_key, model), prompt)
        events = [event async for event in result.stream_events()]
        deltas = [event.data for event in events if event.type == "raw_response_event"]
        return "".join(event.delta for event in deltas if event.type == "response.output_text.delta")

    return {"text": asyncio.run(text())}


def call_tool(base_url, api_key, model, prompt):
    cities = []

    @function_tool
    def weather(city: str) -> str:
        """The weather in a city."""
        cities.append(city)
        return "12 degrees"

    result = Runner.run_sync(agent(base_url, api_key, model, tools=[weather]), prompt)
    return {"text": result.final_output, "cities": cities}


def structured(base_url, api_key, model, prompt):
    result = Runner.run_sync(agent(base_url, api_key, model, output_type=Place), prompt)
    return result.final_output.model_dump()


def stream_structured(base_url, api_key, model, prompt):
    import asyncio

    async def place():
        result = Runner.run_streamed(agent(base_url, api_key, model, output_type=Place), prompt)
        async for _ in result.stream_events():
            pass
        return result.final_output

    return asyncio.run(place()).model_dump()


commands = {
    "complete": complete,
    "stream": stream,
    "callTool": call_tool,
    "structured": structured,
    "streamStructured": stream_structured,
}
serve(commands)
