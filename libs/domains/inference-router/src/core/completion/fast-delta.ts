import type { EventTemplate } from '../dialects/dialect';

/** The fast path is switched off for a stream after this many templates that matched no payload. */
const MAX_UNUSED_TEMPLATES = 4;

/**
 * V8 retains every part of a concatenated string until it is flattened: 60 to 90 bytes for a
 * five-byte token. So the text is decoded after this many parts.
 */
const MAX_UNREAD_BODIES = 16;

const SPACE = 0x20;

/** The body of a JSON string: no unescaped quote, backslash or control character. */
const STRING_BODY = /^(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*$/;

/**
 * Most events of a stream differ only in their text. What surrounds the text becomes a template once such an event has
 * been decoded. A payload that matches the template is the same JSON with another text, so the text is copied without
 * parsing. All other payloads take the normal path.
 */
export class FastDelta {
  private before = '';
  private after = '';
  private isPadded = false;
  private index = -1;
  private frameBefore = '';
  private readonly frameAfter: string;
  private hits = 0;
  private unusedTemplates = 0;
  /** JSON string bodies that are not decoded yet, all of one completion, and their number. */
  private body = '';
  private bodies = 0;
  /** The decoded text. */
  private text = '';

  constructor(frameSuffix: string) {
    this.frameAfter = `"},"logprobs":null,"finish_reason":null}${frameSuffix}`;
  }

  /** @returns the JSON string body of the text of a payload that matches the template. */
  match(data: string): string | undefined {
    const { before } = this;
    // V8 compares whole strings several times faster than `startsWith` and `endsWith` do.
    if (before === '' || data.slice(0, before.length) !== before) return undefined;
    const end = this.endOfText(data);
    if (end <= before.length) return undefined;
    const body = data.slice(before.length, end);
    return STRING_BODY.test(body) ? body : undefined;
  }

  /** Adds the body that `match` returned. @returns the event for the client. */
  add(body: string): string {
    this.hits += 1;
    this.body += body;
    this.bodies += 1;
    if (this.bodies >= MAX_UNREAD_BODIES) this.decode();
    return this.frameBefore + body + this.frameAfter;
  }

  /**
   * Replaces the template after a payload took the normal path.
   *
   * @param templateOf divides the payload, if only its text can differ.
   * @param framePrefix the start of the client's chunk, up to its choices.
   */
  learn(templateOf: () => EventTemplate | undefined, framePrefix: string): void {
    if (this.before !== '' && this.hits === 0) this.unusedTemplates += 1;
    if (this.unusedTemplates >= MAX_UNUSED_TEMPLATES) {
      this.before = '';
      return;
    }
    const template = templateOf();
    if (!template) return;
    this.before = template.before;
    this.after = template.after;
    this.isPadded = template.padded === true;
    this.index = template.index;
    this.hits = 0;
    this.frameBefore = `${framePrefix}{"index":${template.index},"delta":{"content":"`;
  }

  /** Returns and clears the text of the fast path. */
  take(): readonly { readonly index: number; readonly text: string }[] {
    this.decode();
    const { text } = this;
    if (text === '') return [];
    this.text = '';
    return [{ index: this.index, text }];
  }

  /** Where the template's end starts in the payload; -1 when the payload does not end with it. */
  private endOfText(data: string): number {
    const { after } = this;
    let end = data.length;
    if (!this.isPadded) {
      end -= after.length;
      return data.slice(end) === after ? end : -1;
    }
    for (let at = after.length - 1; at >= 0; at -= 1) {
      while (data.charCodeAt(end - 1) === SPACE) end -= 1;
      end -= 1;
      if (data.charCodeAt(end) !== after.charCodeAt(at)) return -1;
    }
    return end;
  }

  private decode(): void {
    if (this.bodies === 0) return;
    this.text += textOfBody(this.body);
    this.body = '';
    this.bodies = 0;
  }
}

/** The text of a JSON string body. */
export function textOfBody(body: string): string {
  return body.includes('\\') ? (JSON.parse(`"${body}"`) as string) : body;
}
