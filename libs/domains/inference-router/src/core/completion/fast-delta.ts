import { asObject, parseJson } from './json';

/** The fast path is switched off for a stream after this many templates that matched no payload. */
const MAX_UNUSED_TEMPLATES = 4;

/**
 * V8 retains every part of a concatenated string until it is flattened: 60 to 90 bytes for a
 * five-byte token. So the text is decoded after this many parts.
 */
const MAX_UNREAD_BODIES = 16;

/** The body of a JSON string: no unescaped quote, backslash or control character. */
const STRING_BODY = /^(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*$/;

const CONTENT_KEYS = ['"content":"', '"content": "'] as const;

/**
 * Most chunks of a stream differ only in the string `delta.content`. The text
 * around that string becomes a template once such a chunk has been parsed. A
 * payload that matches the template is the same JSON with another content, so the
 * string is copied without parsing. All other payloads take the normal path.
 */
export class FastDelta {
  private before = '';
  private after = '';
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

  match(data: string): { readonly frame: string; readonly characters: number } | undefined {
    const { before, after } = this;
    const length = data.length - before.length - after.length;
    if (before === '' || length <= 0 || !data.startsWith(before) || !data.endsWith(after)) return undefined;
    const body = data.slice(before.length, before.length + length);
    if (!STRING_BODY.test(body)) return undefined;
    this.hits += 1;
    this.body += body;
    this.bodies += 1;
    if (this.bodies >= MAX_UNREAD_BODIES) this.decode();
    return { frame: this.frameBefore + body + this.frameAfter, characters: length };
  }

  /**
   * Creates a template from a payload that took the normal path, if only its content can differ.
   *
   * @param framePrefix the start of the client's chunk, up to its choices.
   */
  learn(data: string, index: number, framePrefix: string): void {
    if (this.before !== '' && this.hits === 0) this.unusedTemplates += 1;
    if (this.unusedTemplates >= MAX_UNUSED_TEMPLATES) {
      this.before = '';
      return;
    }
    const template = templateOf(data);
    if (!template) return;
    this.before = template.before;
    this.after = template.after;
    this.index = index;
    this.hits = 0;
    this.frameBefore = `${framePrefix}{"index":${index},"delta":{"content":"`;
  }

  /** Returns and clears the text of the fast path. */
  take(): readonly { readonly index: number; readonly text: string }[] {
    this.decode();
    const { text } = this;
    if (text === '') return [];
    this.text = '';
    return [{ index: this.index, text }];
  }

  private decode(): void {
    if (this.bodies === 0) return;
    this.text += JSON.parse(`"${this.body}"`) as string;
    this.body = '';
    this.bodies = 0;
  }
}

function templateOf(data: string): { before: string; after: string } | undefined {
  for (const key of CONTENT_KEYS) {
    const at = data.indexOf(key);
    if (at === -1) continue;
    const start = at + key.length;
    const end = endOfString(data, start);
    if (end === -1) return undefined;
    const template = { before: data.slice(0, start), after: data.slice(end) };
    return isPlain(template) ? template : undefined;
  }
  return undefined;
}

function endOfString(data: string, start: number): number {
  for (let at = start; at < data.length; at += 1) {
    const character = data.charCodeAt(at);
    if (character === 92 /* \ */) at += 1;
    else if (character === 34 /* " */) return at;
  }
  return -1;
}

/** Tests the template with a probe: the string is `delta.content`, and no other field has a value that matters. */
function isPlain({ before, after }: { before: string; after: string }): boolean {
  const probe = 'probe';
  const chunk = asObject(parseJson(before + probe + after));
  const choices = chunk?.['choices'];
  if (!chunk || chunk['usage'] || chunk['error'] || !Array.isArray(choices) || choices.length !== 1) {
    return false;
  }
  const choice = asObject(choices[0]);
  const delta = asObject(choice?.['delta']);
  if (!choice || !delta || choice['logprobs'] || choice['finish_reason']) return false;
  return Object.entries(delta).every(([name, value]) =>
    name === 'content' ? value === probe : name === 'role' || value === null || value === '',
  );
}
