import { ANSWER, chunkText, type Kind } from './canned';
import type { HttpMessage } from './http-message';

/** What a right answer is worth knowing for: nano-dollars, or undefined when it names no cost. */
export interface CheckedAnswer {
  readonly costNanoUsd: number | undefined;
}

/** An answer that is not what the upstream said. The bench stops at the first one. */
class WrongAnswer extends Error {
  constructor(problem: string, message: HttpMessage) {
    super(`${problem}\n${message.startLine}${message.head}\n\n${message.body.slice(0, 2_000)}`);
    this.name = 'WrongAnswer';
  }
}

/** Checks one answer whole: status, text, and for a stream every chunk, its order and its end. */
export function checkAnswer(kind: Kind, chunks: number, message: HttpMessage): CheckedAnswer {
  if (!message.startLine.startsWith('HTTP/1.1 200')) throw new WrongAnswer('not a 200', message);
  return kind === 'whole' ? checkWhole(message) : checkStream(chunks, message);
}

function checkWhole(message: HttpMessage): CheckedAnswer {
  const parsed = JSON.parse(message.body) as {
    choices?: { message?: { content?: unknown }; finish_reason?: unknown }[];
    usage?: { completion_tokens?: unknown };
  };
  const choice = parsed.choices?.[0];
  if (choice?.message?.content !== ANSWER || choice.finish_reason !== 'stop') {
    throw new WrongAnswer('not the text of the upstream', message);
  }
  if (parsed.usage?.completion_tokens !== 40) throw new WrongAnswer('not the usage of the upstream', message);
  return { costNanoUsd: costIn(message.body) };
}

/** Finds the chunks by their text in order, without parsing: the load generator must stay cheap. */
function checkStream(chunks: number, message: HttpMessage): CheckedAnswer {
  const { body } = message;
  let position = 0;
  for (let index = 0; index < chunks; index++) {
    const found = body.indexOf(`"${chunkText(index)}"`, position);
    if (found < 0) throw new WrongAnswer(`chunk ${index} is missing or out of order`, message);
    position = found + 1;
  }
  const end = body.slice(position);
  if (end.includes('" tok')) throw new WrongAnswer('a chunk came twice', message);
  if (!end.includes('"finish_reason":"stop"')) throw new WrongAnswer('no finish reason', message);
  if (!end.includes(`"completion_tokens":${chunks}`)) throw new WrongAnswer('no usage', message);
  if (!body.endsWith('data: [DONE]\n\n')) throw new WrongAnswer('no [DONE] at the end', message);
  const events = body.split('data: {').length - 1;
  if (events !== chunks + 3) throw new WrongAnswer(`${events} events instead of ${chunks + 3}`, message);
  return { costNanoUsd: costIn(end) };
}

function costIn(text: string): number | undefined {
  const at = text.indexOf('"cost":');
  return at < 0 ? undefined : Math.round(Number.parseFloat(text.slice(at + 7, at + 40)) * 1e9);
}
