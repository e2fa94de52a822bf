import { RESPONSE_TEXT, chunkText, type Kind } from './canned';
import type { HttpMessage } from './http-message';

/** `costNanoUsd` is undefined if the response contains no cost. */
export interface CheckedResponse {
  readonly costNanoUsd: number | undefined;
}

/** A response that differs from the upstream's. The bench stops at the first one. */
class IncorrectResponse extends Error {
  constructor(problem: string, message: HttpMessage) {
    super(`${problem}\n${message.startLine}${message.head}\n\n${message.body.slice(0, 2_000)}`);
    this.name = 'IncorrectResponse';
  }
}

/** Checks a complete response: status, text, and for a stream every chunk, their order and the end. */
export function checkResponse(kind: Kind, chunks: number, message: HttpMessage): CheckedResponse {
  if (!message.startLine.startsWith('HTTP/1.1 200')) throw new IncorrectResponse('not a 200', message);
  return kind === 'non-streaming' ? checkNonStreaming(message) : checkStream(chunks, message);
}

function checkNonStreaming(message: HttpMessage): CheckedResponse {
  const parsed = JSON.parse(message.body) as {
    choices?: { message?: { content?: unknown }; finish_reason?: unknown }[];
    usage?: { completion_tokens?: unknown };
  };
  const choice = parsed.choices?.[0];
  if (choice?.message?.content !== RESPONSE_TEXT || choice.finish_reason !== 'stop') {
    throw new IncorrectResponse("not the upstream's text", message);
  }
  if (parsed.usage?.completion_tokens !== 40)
    throw new IncorrectResponse("not the upstream's usage", message);
  return { costNanoUsd: costIn(message.body) };
}

/** Finds the chunks by their text, without parsing, to keep the load generator cheap. */
function checkStream(chunks: number, message: HttpMessage): CheckedResponse {
  const { body } = message;
  let position = 0;
  for (let index = 0; index < chunks; index++) {
    const found = body.indexOf(`"${chunkText(index)}"`, position);
    if (found < 0) throw new IncorrectResponse(`chunk ${index} is missing or out of order`, message);
    position = found + 1;
  }
  const end = body.slice(position);
  if (end.includes('" tok')) throw new IncorrectResponse('duplicate chunk', message);
  if (!end.includes('"finish_reason":"stop"')) throw new IncorrectResponse('no finish reason', message);
  if (!end.includes(`"completion_tokens":${chunks}`)) throw new IncorrectResponse('no usage', message);
  if (!body.endsWith('data: [DONE]\n\n')) throw new IncorrectResponse('no [DONE] at the end', message);
  const events = body.split('data: {').length - 1;
  // The role, which some providers send with the first text, the finish reason and the usage.
  if (events !== chunks + 3 && events !== chunks + 2)
    throw new IncorrectResponse(`${events} events instead of ${chunks + 3}`, message);
  return { costNanoUsd: costIn(end) };
}

function costIn(text: string): number | undefined {
  const at = text.indexOf('"cost":');
  return at < 0 ? undefined : Math.round(Number.parseFloat(text.slice(at + 7, at + 40)) * 1e9);
}
