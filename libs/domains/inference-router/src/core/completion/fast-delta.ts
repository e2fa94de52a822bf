import { asObject, parseJson } from './json';

/** Templates that did not fit the next payload, after which the fast path gives up on a stream. */
const MAX_FRUITLESS_TEMPLATES = 4;

/**
 * A string that grows by parts remembers each of them, 60 to 90 bytes for a token of five, until it
 * is read as a whole. So a slow stream is read every so many parts.
 */
const MAX_UNREAD_BODIES = 16;

/** The inside of a JSON string: no bare quote, backslash or control character. */

const STRING_BODY = /^(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*$/;

const CONTENT_KEYS = ['"content":"', '"content": "'] as const;

/**
 * Most chunks of a stream differ in one string only: the delta's content.
 * After a chunk of that kind was parsed, the text around the string becomes a
 * template. A payload that fits it is, by construction, the same JSON with
 * another content, so that string is copied over as it is, without parsing or
 * writing JSON. What does not fit takes the ordinary path.
 */
export class FastDelta {
  private before = '';
  private after = '';
  private index = -1;
  private frameBefore = '';
  private readonly frameAfter: string;
  private hits = 0;
  private fruitless = 0;
  /** JSON string bodies not decoded yet, all of one completion, and how many they are. */
  private body = '';
  private bodies = 0;
  /** Of those before them. */
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
   * Makes a payload that was just parsed and sent on the template, if it is of the plain kind.
   *
   * @param framePrefix what the caller's chunk begins with, up to its choices.
   */
  learn(data: string, index: number, framePrefix: string): void {
    if (this.before !== '' && this.hits === 0) this.fruitless += 1;
    if (this.fruitless >= MAX_FRUITLESS_TEMPLATES) {
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

  /** Hands over the text that went the fast way since the last call. */
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

/** Proves the template with a probe: its string is the delta's content, and nothing else in it matters. */
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
