"""Runs one Python client the way a user's program does, on commands from a test.

Records retry delays and skips them, so that a test can count a client's calls with its default settings without
waiting for minutes. This module must be imported before the client.
"""

import json
import sys
import threading
import time
import traceback

retry_delays_ms = []
real_sleep = time.sleep


def recording_sleep(seconds):
    if threading.current_thread() is threading.main_thread():
        retry_delays_ms.append(seconds * 1000)
    else:
        real_sleep(seconds)


time.sleep = recording_sleep

ARGUMENTS = {"baseURL": "base_url", "apiKey": "api_key"}

# Keeps what libraries print out of the results.
results = sys.stdout
sys.stdout = sys.stderr


def serve(commands, describe=lambda error: {}):
    """Reads commands as lines of JSON and writes one line per result, like apps/e2e/clients/serve.mjs."""
    for line in sys.stdin:
        request = json.loads(line)
        options = {ARGUMENTS.get(name, name): value for name, value in request["options"].items()}
        retry_delays_ms.clear()
        try:
            result = {"value": commands[request["command"]](**options)}
        except Exception as error:
            failure = {name: value for name, value in describe(error).items() if value is not None}
            result = {"failure": failure, "text": traceback.format_exc()}
        results.write(json.dumps({**result, "retryDelaysMs": retry_delays_ms}) + "\n")
        results.flush()
