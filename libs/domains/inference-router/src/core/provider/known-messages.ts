/** What a target does not accept in messages. */
export interface MessageChanges {
  /** Messages of role "developer" are sent as "system". */
  readonly mapsDeveloper: boolean;
  /** `reasoning_content`, the reasoning of earlier turns, is removed. */
  readonly dropsThoughts: boolean;
}

/** Bytes scanned per turn of the event loop: about a millisecond. */
const PORTION_BYTES = 1024 * 1024;

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

const MESSAGES = Buffer.from('"messages":[');
const DEVELOPER = Buffer.from('"role":"developer"');
const SYSTEM = Buffer.from('"role":"system"');
const THOUGHTS = Buffer.from('"reasoning_content":');

/** Levels of arrays and objects: the body, its messages, one message. */
const BODY = 1;
const MESSAGE = 3;

/**
 * The body with its messages as the target accepts them. The bytes are edited in
 * place of the parsed JSON: to parse and write 30 MB blocks the event loop for
 * 120 to 670 ms (2026-11-25). The edge writes bodies without white space.
 *
 * @param turn waits for the next turn of the event loop.
 */
export async function withKnownMessages(
  body: Uint8Array,
  changes: MessageChanges,
  turn: () => Promise<void>,
): Promise<Uint8Array> {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const needed: MessageChanges = {
    mapsDeveloper: changes.mapsDeveloper && bytes.includes('"developer"'),
    dropsThoughts: changes.dropsThoughts && bytes.includes('"reasoning_content"'),
  };
  if (!needed.mapsDeveloper && !needed.dropsThoughts) return body;
  const kept: Buffer[] = [];
  let keptUpTo = 0;
  for await (const { from, to, by } of findChanges(bytes, needed, turn)) {
    kept.push(bytes.subarray(keptUpTo, from), by);
    keptUpTo = to;
  }
  if (keptUpTo === 0) return body;
  await turn();
  return Buffer.concat([...kept, bytes.subarray(keptUpTo)]);
}

interface Change {
  readonly from: number;
  readonly to: number;
  readonly by: Buffer;
}

const NOTHING = Buffer.alloc(0);

/** Scans the bytes once; the nesting level distinguishes names of members from texts. */
async function* findChanges(
  bytes: Buffer,
  { mapsDeveloper, dropsThoughts }: MessageChanges,
  turn: () => Promise<void>,
): AsyncGenerator<Change> {
  let depth = 0;
  let isInMessages = false;
  let thoughtsFrom: number | undefined;
  let isInString = false;
  for (let at = 0, portionEnd = PORTION_BYTES; at < bytes.length; at += 1) {
    if (at >= portionEnd) {
      portionEnd = at + PORTION_BYTES;
      await turn();
    }
    const byte = bytes[at];
    if (isInString) {
      if (byte === BACKSLASH) at += 1;
      else if (byte === QUOTE) isInString = false;
      continue;
    }
    // The value of a removed member has ended.
    if (thoughtsFrom !== undefined && depth === MESSAGE && (byte === COMMA || byte === CLOSE_BRACE)) {
      const takesCommaBefore = byte === CLOSE_BRACE && bytes[thoughtsFrom - 1] === COMMA;
      yield {
        from: takesCommaBefore ? thoughtsFrom - 1 : thoughtsFrom,
        to: byte === COMMA ? at + 1 : at,
        by: NOTHING,
      };
      thoughtsFrom = undefined;
    }
    switch (byte) {
      case QUOTE: {
        isInString = true;
        if (depth === BODY && startsWith(bytes, at, MESSAGES)) {
          isInMessages = true;
        } else if (isInMessages && depth === MESSAGE) {
          if (mapsDeveloper && startsWith(bytes, at, DEVELOPER)) {
            yield { from: at, to: at + DEVELOPER.length, by: SYSTEM };
          } else if (dropsThoughts && startsWith(bytes, at, THOUGHTS)) {
            thoughtsFrom = at;
          }
        }
        break;
      }
      case OPEN_BRACKET:
      case OPEN_BRACE:
        depth += 1;
        break;
      case CLOSE_BRACKET:
      case CLOSE_BRACE:
        depth -= 1;
        if (depth === BODY) isInMessages = false;
        break;
      default:
    }
  }
}

function startsWith(bytes: Buffer, at: number, token: Buffer): boolean {
  return bytes[at + 1] === token[1] && token.equals(bytes.subarray(at, at + token.length));
}
