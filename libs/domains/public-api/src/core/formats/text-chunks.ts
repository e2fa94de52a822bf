/** The body of a JSON string: no unescaped quote, backslash or control character. */
const STRING_BODY = /^(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*$/;

const START = '"choices":[';
const BEFORE = '{"index":0,"delta":{"content":"';
const AFTER = '"},"logprobs":null,"finish_reason":null}],"usage":null}';

/**
 * Most chunks of a stream differ only in their text. Such a chunk is recognized without parsing it, so that its text can be
 * copied into another event as it is.
 */
export class TextChunks {
  private before = '';

  /** Learns from a parsed chunk how later ones start. */
  learn(data: string): void {
    const at = data.indexOf(START);
    if (at !== -1) this.before = data.slice(0, at + START.length) + BEFORE;
  }

  /** The text as a JSON string body; undefined for any other chunk. */
  match(data: string): string | undefined {
    const { before } = this;
    // V8 compares whole strings several times faster than `startsWith` and `endsWith` do.
    if (before === '' || data.slice(0, before.length) !== before) return undefined;
    const end = data.length - AFTER.length;
    if (end <= before.length || data.slice(end) !== AFTER) return undefined;
    const body = data.slice(before.length, end);
    return STRING_BODY.test(body) ? body : undefined;
  }
}
