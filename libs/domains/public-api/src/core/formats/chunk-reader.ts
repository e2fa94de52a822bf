import type { JsonObject } from '../json/json-value';
import { parseObject } from './chunk-events';

const DATA = 'data: ';
const END = '\n\n';
const BACKSLASH = 0x5c;
const CHOICES = '"choices":[';
const BEFORE_TEXT = '{"index":0,"delta":{"content":"';
const AFTER_TEXT = `"},"logprobs":null,"finish_reason":null}],"usage":null}${END}`;

/** What a stream does with the chunks of a chat completion, in order. */
export interface ChunkConsumer {
  /** Whether text continues the text before it. */
  readonly isInText: boolean;
  /** More text, as the body of a JSON string. Called only while `isInText`. */
  textBody(body: string): void;
  chunk(chunk: JsonObject): void;
}

/**
 * Reads the events of a chat completion. Most differ only in their text: such an event is recognized without parsing it, so
 * that its text can be copied into another event as it is.
 */
export class ChunkReader {
  /** What the events of the stream have before their text, learned from the last parsed one. */
  private before = '';

  constructor(private readonly consumer: ChunkConsumer) {}

  /** @param sse complete events. Comments and the final [DONE] are not chunks. */
  read(sse: string): void {
    for (let start = 0; start < sse.length;) {
      const afterText = this.consumer.isInText ? this.readText(sse, start) : undefined;
      if (afterText !== undefined) {
        start = afterText;
        continue;
      }
      const end = sse.indexOf(END, start);
      if (end === -1) return;
      if (sse.startsWith(DATA, start)) this.readChunk(sse.slice(start, end));
      start = end + END.length;
    }
  }

  /** @returns where the next event starts; undefined for an event that is not a text only. */
  private readText(sse: string, start: number): number | undefined {
    const { before } = this;
    const at = start + before.length;
    // V8 compares whole strings several times faster than `startsWith` does.
    if (before === '' || sse.slice(start, at) !== before) return undefined;
    let end = sse.indexOf('"', at);
    // A quote after an escaped backslash ends the text, too. The event is then parsed: no later quote starts AFTER_TEXT.
    while (sse.charCodeAt(end - 1) === BACKSLASH) end = sse.indexOf('"', end + 1);
    const next = end + AFTER_TEXT.length;
    if (sse.slice(end, next) !== AFTER_TEXT) return undefined;
    this.consumer.textBody(sse.slice(at, end));
    return next;
  }

  private readChunk(event: string): void {
    const at = event.indexOf(CHOICES);
    if (at !== -1) this.before = event.slice(0, at + CHOICES.length) + BEFORE_TEXT;
    this.consumer.chunk(parseObject(event.slice(DATA.length)));
  }
}
