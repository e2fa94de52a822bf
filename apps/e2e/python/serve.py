"""Runs one Python client as a user's program would, at the word of a test.

Waits before retries are noted and not waited for, so that a test may count the
calls of a client with its default settings that would sleep for minutes. This
module must be imported before the client.
"""

import json
import sys
import threading
import time
import traceback

waits_ms = []
real_sleep = time.sleep


def noted_sleep(seconds):
    if threading.current_thread() is threading.main_thread():
        waits_ms.append(seconds * 1000)
    else:
        real_sleep(seconds)


time.sleep = noted_sleep

ARGUMENTS = {"baseURL": "base_url", "apiKey": "api_key"}

# Libraries that print would end up between the answers.
answers = sys.stdout
sys.stdout = sys.stderr


def serve(commands, describe):
    """Reads commands as lines of JSON and answers each with a line, as apps/e2e/clients/serve.mjs does."""
    for line in sys.stdin:
        request = json.loads(line)
        options = {ARGUMENTS.get(name, name): value for name, value in request["options"].items()}
        waits_ms.clear()
        try:
            answer = {"value": commands[request["command"]](**options)}
        except Exception as error:
            told = {name: value for name, value in describe(error).items() if value is not None}
            answer = {"failure": told, "text": traceback.format_exc()}
        answers.write(json.dumps({**answer, "waitsMs": waits_ms}) + "\n")
        answers.flush()
