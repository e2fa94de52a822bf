"""instructor, with its default mode."""

from serve import serve

import instructor
from openai import OpenAI
from pydantic import BaseModel


class Place(BaseModel):
    city: str


def ask(base_url, api_key, prompt, create, **options):
    client = instructor.from_openai(OpenAI(base_url=base_url, api_key=api_key))
    return getattr(client, create)(messages=[{"role": "user", "content": prompt}], max_tokens=200, **options)


def complete(base_url, api_key, model, prompt):
    return ask(base_url, api_key, prompt, "create", model=model, response_model=None).choices[0].message.content


def stream(base_url, api_key, model, prompt):
    *_, last = ask(base_url, api_key, prompt, "create_partial", model=model, response_model=Place)
    return {"text": last.city}


def structured(base_url, api_key, model, prompt):
    return ask(base_url, api_key, prompt, "create", model=model, response_model=Place).model_dump()


def stream_structured(base_url, api_key, model, prompt):
    client = instructor.from_openai(OpenAI(base_url=base_url, api_key=api_key), mode=instructor.Mode.JSON_SCHEMA)
    messages = [{"role": "user", "content": prompt}]
    *_, last = client.create_partial(model=model, messages=messages, max_tokens=200, response_model=Place)
    return last.model_dump()


serve({"complete": complete, "stream": stream, "structured": structured, "streamStructured": stream_structured})
