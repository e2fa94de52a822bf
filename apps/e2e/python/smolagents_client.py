"""smolagents, with its model for OpenAI's protocol."""

import json

from serve import serve

from smolagents import OpenAIModel, ToolCallingAgent, tool


def connect(base_url, api_key, model):
    return OpenAIModel(model_id=model, api_base=base_url, api_key=api_key)


def complete(base_url, api_key, model, prompt):
    return connect(base_url, api_key, model).generate([{"role": "user", "content": prompt}]).content


def stream(base_url, api_key, model, prompt):
    chunks = connect(base_url, api_key, model).generate_stream([{"role": "user", "content": prompt}])
    return {"text": "".join(chunk.content or "" for chunk in chunks)}


def call_tool(base_url, api_key, model, prompt):
    cities = []

    @tool
    def weather(city: str) -> str:
        """The weather in a city.

        Args:
            city: Its name.
        """
        cities.append(city)
        # The emulator calls the tool that the last message names. An agent must end with this one.
        return "12 degrees, use final_answer"

    agent = ToolCallingAgent(tools=[weather], model=connect(base_url, api_key, model), max_steps=3, verbosity_level=0)
    return {"text": agent.run(f"{prompt}, use weather"), "cities": cities}


def structured(base_url, api_key, model, prompt):
    schema = {
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
        "additionalProperties": False,
    }
    message = connect(base_url, api_key, model).generate(
        [{"role": "user", "content": prompt}],
        response_format={"type": "json_schema", "json_schema": {"name": "place", "strict": True, "schema": schema}},
    )
    return json.loads(message.content)


serve({"complete": complete, "stream": stream, "callTool": call_tool, "structured": structured})
