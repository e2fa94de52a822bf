/** Changes to messages that a target needs. */
export interface MessageAdaptation {
  /** The role "developer" is sent as "system". */
  readonly mapsDeveloperRole: boolean;
  /** `reasoning_content`, the reasoning of earlier turns, is removed. */
  readonly dropsReasoning: boolean;
  /** `cache_control` of parts is sent as `prompt_cache_breakpoint`; that of assistants' messages and tools is removed. */
  readonly translatesCachePoints: boolean;
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
const ASSISTANT = Buffer.from('"role":"assistant"');
const REASONING = Buffer.from('"reasoning_content":');
const TOOLS = Buffer.from('"tools":[');
const CACHE_CONTROL = Buffer.from('"cache_control":');
const BREAKPOINT = Buffer.from('"prompt_cache_breakpoint":{"mode":"explicit"}');

/** Nesting levels: the body is 1, the array of messages or tools 2, a message or tool 3, the array of parts 4. */
const BODY = 1;
const MESSAGE = 3;
const TOOL = 3;
const PART = 5;

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
    translatesCachePoints: changes.translatesCachePoints && bytes.includes('"cache_control"'),
  };
  if (!Object.values(needed).includes(true)) return body;
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

/** A field that is replaced, or removed. Its value ends at the next comma or brace of the same level. */
interface ChangedField {
  readonly start: number;
  readonly depth: number;
  readonly by: Buffer;
}

/** Scans the bytes once; the nesting level distinguishes field names from strings. */
async function* findChanges(
  bytes: Buffer,
  { mapsDeveloperRole, dropsReasoning, translatesCachePoints }: MessageAdaptation,
  turn: () => Promise<void>,
): AsyncGenerator<Change> {
  let depth = 0;
  let within: 'messages' | 'tools' | undefined;
  let isAssistant = false;
  let field: ChangedField | undefined;
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
    if (field !== undefined && depth === field.depth && (byte === COMMA || byte === CLOSE_BRACE)) {
      yield changeOf(bytes, field, at);
      field = undefined;
    }
    switch (byte) {
      case QUOTE: {
        isInString = true;
        if (depth === BODY) {
          if (startsWith(bytes, at, MESSAGES)) within = 'messages';
          else if (startsWith(bytes, at, TOOLS)) within = 'tools';
        } else if (within === 'messages' && depth === MESSAGE) {
          if (mapsDeveloperRole && startsWith(bytes, at, DEVELOPER)) {
            yield { from: at, to: at + DEVELOPER.length, by: SYSTEM };
          } else if (dropsReasoning && startsWith(bytes, at, REASONING)) {
            field = { start: at, depth, by: NOTHING };
          } else if (translatesCachePoints && startsWith(bytes, at, ASSISTANT)) {
            isAssistant = true;
          }
        } else if (
          translatesCachePoints &&
          depth === (within === 'tools' ? TOOL : PART) &&
          within !== undefined &&
          startsWith(bytes, at, CACHE_CONTROL)
        ) {
          // OpenAI accepts breakpoints only on parts of input.
          field = { start: at, depth, by: within === 'tools' || isAssistant ? NOTHING : BREAKPOINT };
        }
        break;
      }
      case OPEN_BRACKET:
      case OPEN_BRACE:
        depth += 1;
        if (depth === MESSAGE) isAssistant = false;
        break;
      case CLOSE_BRACKET:
      case CLOSE_BRACE:
        depth -= 1;
        if (depth === BODY) within = undefined;
        break;
      default:
    }
  }
}

/** @param end of the value. */
function changeOf(bytes: Buffer, { start, by }: ChangedField, end: number): Change {
  if (by !== NOTHING) return { from: start, to: end, by };
  if (bytes[end] === COMMA) return { from: start, to: end + 1, by };
  return { from: bytes[start - 1] === COMMA ? start - 1 : start, to: end, by };
}

function startsWith(bytes: Buffer, at: number, token: Buffer): boolean {
  return bytes[at + 1] === token[1] && token.equals(bytes.subarray(at, at + token.length));
}
