import { asObject, parseJson } from '../../completion/json';
import { isOwnSignature } from '../signatures';

/** Changes to messages that a target needs. */
export interface MessageAdaptation {
  /** The role "developer" is sent as "system". */
  readonly mapsDeveloperRole: boolean;
  /** `reasoning_content`, the reasoning of earlier turns, is removed. */
  readonly dropsReasoning: boolean;
  /** The target's own `reasoning_details` are sent, and `reasoning_content` by the name `reasoning`. */
  readonly sendsReasoningDetails?: boolean;
  /** `cache_control` of parts is sent as `prompt_cache_breakpoint`; that of assistants' messages and tools is removed. */
  readonly translatesCachePoints: boolean;
  /** The target, whose own signatures are kept. */
  readonly signer: string;
  readonly ownsUntagged: boolean;
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
const REASONING_ALIAS = Buffer.from('"reasoning":');
const REASONING_DETAILS = Buffer.from('"reasoning_details":');
const EXTRA_CONTENT = Buffer.from('"extra_content":');
const IS_ERROR = Buffer.from('"is_error":');
const TOOLS = Buffer.from('"tools":[');
const CACHE_CONTROL = Buffer.from('"cache_control":');
const BREAKPOINT = Buffer.from('"prompt_cache_breakpoint":{"mode":"explicit"}');

/**
 * Nesting levels: the body is 1, its array of messages or tools 2, a message or tool 3, an array of parts or of tool calls 4,
 * a part or a tool call 5.
 */
const BODY = 1;
const MESSAGE = 3;
const TOOL = 3;
const PART = 5;
const TOOL_CALL = 5;

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
  const parts: Buffer[] = [];
  let copiedUpTo = 0;
  for await (const { from, to, by } of findChanges(bytes, changes, turn)) {
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

/** A field that is removed or replaced. Its value ends at the next comma or brace of the same level. */
interface Field {
  readonly start: number;
  readonly depth: number;
  /** Undefined: a signed value, which is kept at the target that signed it. */
  readonly by: Buffer | undefined;
  /** The length of the field's name and colon. */
  readonly nameLength?: number;
}

/** Scans the bytes once; the nesting level distinguishes field names from strings. */
async function* findChanges(
  bytes: Buffer,
  adaptation: MessageAdaptation,
  turn: () => Promise<void>,
): AsyncGenerator<Change> {
  let depth = 0;
  let within: 'messages' | 'tools' | undefined;
  let isAssistant = false;
  let field: Field | undefined;
  let changedUpTo = 0;
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
    if (field?.depth === depth && (byte === COMMA || byte === CLOSE_BRACE)) {
      const change = changeOf(bytes, field, at, changedUpTo, adaptation);
      if (change) {
        yield change;
        changedUpTo = change.to;
      }
      field = undefined;
    }
    switch (byte) {
      case QUOTE:
        isInString = true;
        if (field) break;
        if (depth === BODY) {
          if (startsWith(bytes, at, MESSAGES)) within = 'messages';
          else if (startsWith(bytes, at, TOOLS)) within = 'tools';
        } else if (within === 'tools') {
          if (depth === TOOL && adaptation.translatesCachePoints && startsWith(bytes, at, CACHE_CONTROL))
            field = { start: at, depth, by: NOTHING };
        } else if (within === 'messages') {
          if (depth === MESSAGE && startsWith(bytes, at, ASSISTANT)) isAssistant = true;
          if (depth === MESSAGE && adaptation.mapsDeveloperRole && startsWith(bytes, at, DEVELOPER))
            yield { from: at, to: at + DEVELOPER.length, by: SYSTEM };
          else if (depth === MESSAGE && renamesReasoning(bytes, at, adaptation))
            yield { from: at, to: at + REASONING.length, by: REASONING_ALIAS };
          else field = fieldAt(bytes, at, depth, isAssistant, adaptation);
        }
        break;
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

function renamesReasoning(
  bytes: Buffer,
  at: number,
  { dropsReasoning, sendsReasoningDetails }: MessageAdaptation,
): boolean {
  return sendsReasoningDetails === true && !dropsReasoning && startsWith(bytes, at, REASONING);
}

/** The field of a message that starts here and may change. */
function fieldAt(
  bytes: Buffer,
  at: number,
  depth: number,
  isAssistant: boolean,
  { dropsReasoning, sendsReasoningDetails, translatesCachePoints }: MessageAdaptation,
): Field | undefined {
  if (depth === MESSAGE) {
    if (sendsReasoningDetails === true && startsWith(bytes, at, REASONING_DETAILS))
      return { start: at, depth, by: undefined, nameLength: REASONING_DETAILS.length };
    const isDropped =
      (dropsReasoning && startsWith(bytes, at, REASONING)) ||
      startsWith(bytes, at, REASONING_DETAILS) ||
      startsWith(bytes, at, IS_ERROR);
    return isDropped ? { start: at, depth, by: NOTHING } : undefined;
  }
  // OpenAI accepts breakpoints only on parts of input.
  if (depth === PART && translatesCachePoints && startsWith(bytes, at, CACHE_CONTROL))
    return { start: at, depth, by: isAssistant ? NOTHING : BREAKPOINT };
  if (depth === TOOL_CALL && startsWith(bytes, at, EXTRA_CONTENT))
    return { start: at, depth, by: undefined, nameLength: EXTRA_CONTENT.length };
  return undefined;
}

/**
 * @param end the comma or the brace after the field.
 * @param changedUpTo the end of the previous change, which may have removed the comma before the field.
 */
function changeOf(
  bytes: Buffer,
  { start, by, nameLength = 0 }: Field,
  end: number,
  changedUpTo: number,
  adaptation: MessageAdaptation,
): Change | undefined {
  if (by === undefined) {
    const valueStart = start + nameLength;
    const own = ownSigned(parseJson(bytes.toString('utf8', valueStart, end)), adaptation);
    if (own !== undefined) return { from: valueStart, to: end, by: Buffer.from(JSON.stringify(own)) };
  } else if (by !== NOTHING) {
    return { from: start, to: end, by };
  }
  const hasCommaBefore = start > changedUpTo && bytes[start - 1] === COMMA;
  if (hasCommaBefore) return { from: start - 1, to: end, by: NOTHING };
  return { from: start, to: bytes[end] === COMMA ? end + 1 : end, by: NOTHING };
}

/** @returns undefined for a value, or a list of values, of other targets. */
function ownSigned(value: unknown, adaptation: MessageAdaptation): unknown {
  if (Array.isArray(value)) {
    const own = value
      .map((each: unknown) => ownSigned(each, adaptation))
      .filter((each) => each !== undefined);
    return own.length === 0 ? undefined : own;
  }
  const signed = asObject(value) ?? {};
  const { signed_by: _, ...rest } = signed;
  return isOwnSignature(signed, adaptation) ? rest : undefined;
}

function startsWith(bytes: Buffer, at: number, token: Buffer): boolean {
  return bytes[at + 1] === token[1] && token.equals(bytes.subarray(at, at + token.length));
}
