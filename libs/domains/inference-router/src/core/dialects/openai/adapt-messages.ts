/** Changes to messages that a target needs. */
export interface MessageAdaptation {
  /** The role "developer" is sent as "system". */
  readonly mapsDeveloperRole: boolean;
  /** `reasoning_content`, the reasoning of earlier turns, is removed. */
  readonly dropsReasoning: boolean;
}

/** Bytes scanned per turn of the event loop: about a millisecond. */
const BYTES_PER_TURN = 1024 * 1024;

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
const REASONING = Buffer.from('"reasoning_content":');

/** Nesting levels: the body is 1, the messages array 2, a message 3. */
const BODY = 1;
const MESSAGE = 3;

/**
 * Adapts the messages of a body to a target. The bytes are edited, since parsing
 * and serializing 30 MB blocks the event loop for 120 to 670 ms (2026-11-25). The edge
 * writes bodies without white space.
 *
 * @param turn waits for the next turn of the event loop.
 */
export async function adaptMessages(
  body: Uint8Array,
  changes: MessageAdaptation,
  turn: () => Promise<void>,
): Promise<Uint8Array> {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const needed: MessageAdaptation = {
    mapsDeveloperRole: changes.mapsDeveloperRole && bytes.includes('"developer"'),
    dropsReasoning: changes.dropsReasoning && bytes.includes('"reasoning_content"'),
  };
  if (!needed.mapsDeveloperRole && !needed.dropsReasoning) return body;
  const parts: Buffer[] = [];
  let copiedUpTo = 0;
  for await (const { from, to, by } of findChanges(bytes, needed, turn)) {
    parts.push(bytes.subarray(copiedUpTo, from), by);
    copiedUpTo = to;
  }
  if (copiedUpTo === 0) return body;
  await turn();
  return Buffer.concat([...parts, bytes.subarray(copiedUpTo)]);
}

interface Change {
  readonly from: number;
  readonly to: number;
  readonly by: Buffer;
}

const NOTHING = Buffer.alloc(0);

/** Scans the bytes once; the nesting level distinguishes field names from strings. */
async function* findChanges(
  bytes: Buffer,
  { mapsDeveloperRole, dropsReasoning }: MessageAdaptation,
  turn: () => Promise<void>,
): AsyncGenerator<Change> {
  let depth = 0;
  let isInMessages = false;
  let reasoningStart: number | undefined;
  let isInString = false;
  for (let at = 0, turnEnd = BYTES_PER_TURN; at < bytes.length; at += 1) {
    if (at >= turnEnd) {
      turnEnd = at + BYTES_PER_TURN;
      await turn();
    }
    const byte = bytes[at];
    if (isInString) {
      if (byte === BACKSLASH) at += 1;
      else if (byte === QUOTE) isInString = false;
      continue;
    }
    // The removed field ends here.
    if (reasoningStart !== undefined && depth === MESSAGE && (byte === COMMA || byte === CLOSE_BRACE)) {
      const removesPrecedingComma = byte === CLOSE_BRACE && bytes[reasoningStart - 1] === COMMA;
      yield {
        from: removesPrecedingComma ? reasoningStart - 1 : reasoningStart,
        to: byte === COMMA ? at + 1 : at,
        by: NOTHING,
      };
      reasoningStart = undefined;
    }
    switch (byte) {
      case QUOTE: {
        isInString = true;
        if (depth === BODY && startsWith(bytes, at, MESSAGES)) {
          isInMessages = true;
        } else if (isInMessages && depth === MESSAGE) {
          if (mapsDeveloperRole && startsWith(bytes, at, DEVELOPER)) {
            yield { from: at, to: at + DEVELOPER.length, by: SYSTEM };
          } else if (dropsReasoning && startsWith(bytes, at, REASONING)) {
            reasoningStart = at;
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
