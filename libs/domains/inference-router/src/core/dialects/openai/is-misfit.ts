import type { EncodeCall } from '../dialect';
import { needsReasoningOfCalls } from '../fit-request';
import { textsOfField } from '../texts-of-field';
import { fits, type TextRule } from '../vendor-rules';
import { rulesOf } from './rules';

// The edge writes bodies without white space, and quotes within strings are escaped: these are fields.
const TOOL = Buffer.from('"tool');
const TOOL_CALLS = Buffer.from('"tool_calls":[');
const TOOL_ROLE = Buffer.from('"role":"tool"');
const ROLE = Buffer.from('"role":"');
const IMAGE = Buffer.from('"type":"image_url"');
const NAME = Buffer.from('"name":"');
const ID = Buffer.from('"id":"');
const TOOL_CALL_ID = Buffer.from('"tool_call_id":"');
const REASONING = Buffer.from('"reasoning_content":');
const ALLOWED_TOOLS = Buffer.from('"type":"allowed_tools"');

/**
 * Whether the vendor refuses the body because of a field, a name, an id, an image or missing reasoning. The bytes are searched, since parsing a large
 * body blocks the event loop. A body that only looks so is parsed in vain.
 */
export function isMisfit(body: Uint8Array, { options }: Pick<EncodeCall, 'options'>): boolean {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const rules = rulesOf(options.vendor);
  if (options.drops.some((name) => bytes.includes(`"${name}":`))) return true;
  if (rules.authorNames !== undefined && hasMisfit(bytes, NAME, rules.authorNames)) return true;
  if (!bytes.includes(TOOL)) return false;
  return (
    options.repairsToolHistory === true ||
    (!rules.allowedTools && bytes.includes(ALLOWED_TOOLS)) ||
    hasMisfit(bytes, NAME, rules.toolNames) ||
    (rules.callIds !== undefined && hasMisfit(bytes, ID, rules.callIds)) ||
    (rules.callIds !== undefined && hasMisfit(bytes, TOOL_CALL_ID, rules.callIds)) ||
    hasRepeatedId(bytes, rules.repeatsCallIds) ||
    (needsReasoningOfCalls(rules, options) && countOf(bytes, TOOL_CALLS) > countOf(bytes, REASONING)) ||
    (!rules.imagesInResults && hasImageInResult(bytes))
  );
}

function countOf(bytes: Buffer, field: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(field); at !== -1; at = bytes.indexOf(field, at + 1)) count += 1;
  return count;
}

function hasMisfit(bytes: Buffer, field: Buffer, rule: TextRule): boolean {
  for (const text of textsOfField(bytes, field, rule.maxLength))
    if (text === undefined || !fits(text, rule)) return true;
  return false;
}

/** @param repeats whether an id may occur again in a later turn. */
function hasRepeatedId(bytes: Buffer, repeats: boolean): boolean {
  const ids = new Set<string>();
  for (let at = bytes.indexOf(TOOL_CALLS); at !== -1;) {
    const next = bytes.indexOf(TOOL_CALLS, at + 1);
    const end = next === -1 ? bytes.length : next;
    if (repeats) ids.clear();
    for (const id of textsOfField(bytes, ID, end - at, { from: at, to: end })) {
      if (id !== undefined && ids.has(id)) return true;
      ids.add(id ?? '');
    }
    at = next;
  }
  return false;
}

/** The role precedes the content of a message. */
function hasImageInResult(bytes: Buffer): boolean {
  let image = bytes.indexOf(IMAGE);
  for (let at = bytes.indexOf(TOOL_ROLE); at !== -1 && image !== -1; at = bytes.indexOf(TOOL_ROLE, at + 1)) {
    if (image < at) image = bytes.indexOf(IMAGE, at);
    const next = bytes.indexOf(ROLE, at + 1);
    if (image !== -1 && (next === -1 || image < next)) return true;
  }
  return false;
}
