const QUOTE = 0x22;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPENING: ReadonlySet<number> = new Set([0x5b, 0x7b]);
const CLOSING: ReadonlySet<number> = new Set([0x5d, 0x7d]);
const SPACE: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d]);
/** Digits, signs, the point and the exponent. */
const OF_NUMBERS: ReadonlySet<number> = new Set([...'+-.0123456789Ee'].map((each) => each.charCodeAt(0)));
/** Maximum length of an encoded name, with escapes. */
const MAX_NAME_BYTES = 256;

/**
 * The text of a number in JSON: the last member with this name in the outermost
 * object, which is the one that a parser uses.
 *
 * @param bytes - valid JSON.
 */
export function lastTopLevelNumber(bytes: Uint8Array, name: string): string | undefined {
  let found: string | undefined;
  let depth = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] as number;
    if (OPENING.has(byte)) depth += 1;
    else if (CLOSING.has(byte)) depth -= 1;
    if (byte !== QUOTE) continue;
    const end = endOfString(bytes, at);
    const next = afterSpace(bytes, end);
    const isName = depth === 1 && bytes[next] === COLON;
    if (isName && end - at <= MAX_NAME_BYTES && JSON.parse(textOf(bytes, at, end)) === name) {
      found = numberAt(bytes, afterSpace(bytes, next + 1));
    }
    at = end - 1;
  }
  return found;
}

/** @returns the index after the closing quote. */
function endOfString(bytes: Uint8Array, start: number): number {
  let at = start + 1;
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at + 1;
}

function afterSpace(bytes: Uint8Array, start: number): number {
  let at = start;
  while (SPACE.has(bytes[at] as number)) at += 1;
  return at;
}

function numberAt(bytes: Uint8Array, start: number): string | undefined {
  let end = start;
  while (OF_NUMBERS.has(bytes[end] as number)) end += 1;
  return end === start ? undefined : textOf(bytes, start, end);
}

function textOf(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('utf8');
}
