import { createInterface } from 'node:readline';

/** Request timeout of the openai SDK and of LangChain, which is not a retry delay. */
const REQUEST_TIMEOUT_MS = 600_000;
/** Shorter timers are internal to the SDKs. */
const MIN_RETRY_DELAY_MS = 100;
/** Module in which `fetch` sets its connection timers. */
const FETCH = 'node:internal/deps/undici';

const retryDelaysMs = [];
const realSetTimeout = globalThis.setTimeout;

// Records retry delays and skips them, so that a test can count a client's calls with its default settings without
// waiting for minutes. This module must be imported before the SDK.
globalThis.setTimeout = (callback, delayMs, ...rest) => {
  const isRetryDelay = delayMs >= MIN_RETRY_DELAY_MS && delayMs !== REQUEST_TIMEOUT_MS;
  if (!isRetryDelay || new Error('caller').stack.includes(FETCH)) {
    return realSetTimeout(callback, delayMs, ...rest);
  }
  retryDelaysMs.push(delayMs);
  return realSetTimeout(callback, 0, ...rest);
};

/**
 * Reads commands as lines of JSON, `{"command": "complete", "options": {…}}`, runs the function of that name,
 * and prints a line for each: `{"value": …, "retryDelaysMs": […]}`, or `{"failure": …, "retryDelaysMs": […]}` with
 * the result of `describe`.
 */
export async function serve(commands, describe = () => ({})) {
  for await (const line of createInterface({ input: process.stdin })) {
    const { command, options } = JSON.parse(line);
    retryDelaysMs.length = 0;
    let result;
    try {
      result = { value: await commands[command](options) };
    } catch (error) {
      result = { failure: describe(error), text: String(error?.stack ?? error) };
    }
    process.stdout.write(`${JSON.stringify({ ...result, retryDelaysMs })}\n`);
  }
}
