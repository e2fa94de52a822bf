import { createInterface } from 'node:readline';

/** The openai SDK's limit on one call, which LangChain sets too: a timer that is no wait before a retry. */
const REQUEST_TIMEOUT_MS = 600_000;
/** Shorter timers are the SDK's own affairs. */
const SHORTEST_WAIT_MS = 100;
/** Where `fetch` sets the timers of its connections. */
const FETCH = 'node:internal/deps/undici';

const waitsMs = [];
const realSetTimeout = globalThis.setTimeout;

// Waits before retries are noted and not waited for, so that a test may count the calls of a client with its
// default settings that would sleep for minutes. This module must be imported before the SDK.
globalThis.setTimeout = (callback, delayMs, ...rest) => {
  const isWait = delayMs >= SHORTEST_WAIT_MS && delayMs !== REQUEST_TIMEOUT_MS;
  if (!isWait || new Error('who waits?').stack.includes(FETCH)) {
    return realSetTimeout(callback, delayMs, ...rest);
  }
  waitsMs.push(delayMs);
  return realSetTimeout(callback, 0, ...rest);
};

/**
 * Reads commands as lines of JSON, `{"command": "complete", "options": {…}}`, runs the function of that name,
 * and answers each with a line: `{"value": …, "waitsMs": […]}`, or `{"failure": …, "waitsMs": […]}` with what
 * `describe` tells of the error.
 */
export async function serve(commands, describe) {
  for await (const line of createInterface({ input: process.stdin })) {
    const { command, options } = JSON.parse(line);
    waitsMs.length = 0;
    let answer;
    try {
      answer = { value: await commands[command](options) };
    } catch (error) {
      answer = { failure: describe(error), text: String(error?.stack ?? error) };
    }
    process.stdout.write(`${JSON.stringify({ ...answer, waitsMs })}\n`);
  }
}
