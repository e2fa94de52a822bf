import type { EncodeCall } from '../dialect';
import { needsReasoningOfCalls } from '../fit-request';
import { fits, type TextRule, type VendorRules } from '../vendor-rules';
import { rulesOf } from './rules';

// The edge writes bodies without white space, and quotes within strings are escaped: these are fields.
const TOOL = '"tool';
const TOOL_CALLS = '"tool_calls":[';
const REASONING = '"reasoning_content":';
const ALLOWED_TOOLS = '"type":"allowed_tools"';
const TOOL_ROLE = '"role":"tool"';
const ROLE = '"role":"';
const IMAGE = '"type":"image_url"';
/** The name of a tool or an author, the id of a call, that of a result, and the start of the calls of a message. */
const NAMES_AND_IDS = /"(?:name":"([^"]*)|id":"([^"]*)|tool_call_id":"([^"]*)|tool_calls":\[)/g;

/**
 * Whether the vendor refuses the body because of a field, a name, an id, an image or missing reasoning. The text is
 * searched, since parsing a large body blocks the event loop. A body that only looks so is parsed in vain.
 */
export function isMisfit(body: Uint8Array, { options }: Pick<EncodeCall, 'options'>): boolean {
  const rules = rulesOf(options.vendor);
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const hasTools = bytes.includes(TOOL);
  if (hasTools && options.repairsToolHistory === true) return true;
  if (!hasTools && rules.authorNames === undefined && options.drops.length === 0) return false;
  // Strings are searched in a fraction of the time of buffers. Latin-1 keeps every byte, and the fields are ASCII.
  const text = bytes.toString('latin1');
  if (options.drops.some((name) => text.includes(`"${name}":`))) return true;
  if (!hasTools) return hasMisfit(text, [rules.authorNames], rules);
  return (
    // A name may be that of a tool or of an author.
    hasMisfit(text, [rules.toolNames, rules.authorNames], rules) ||
    (!rules.allowedTools && text.includes(ALLOWED_TOOLS)) ||
    (needsReasoningOfCalls(rules, options) && countOf(text, TOOL_CALLS) > countOf(text, REASONING)) ||
    (!rules.imagesInResults && text.includes(IMAGE) && hasImageInResult(text))
  );
}

function countOf(text: string, field: string): number {
  let count = 0;
  for (let at = text.indexOf(field); at !== -1; at = text.indexOf(field, at + 1)) count += 1;
  return count;
}

/** Searches once for everything that occurs many times. */
function hasMisfit(
  text: string,
  names: readonly (TextRule | undefined)[],
  { callIds, repeatsCallIds }: VendorRules,
): boolean {
  const ids = new Set<string>();
  let hasCalls = false;
  NAMES_AND_IDS.lastIndex = 0;
  for (let match = NAMES_AND_IDS.exec(text); match !== null; match = NAMES_AND_IDS.exec(text)) {
    const [, name, id, resultOf] = match;
    if (name !== undefined) {
      if (!names.every((rule) => isFit(name, rule))) return true;
    } else if (id !== undefined) {
      // Ids that precede the first call are of other objects.
      if (hasCalls && (ids.has(id) || !isFit(id, callIds))) return true;
      ids.add(id);
    } else if (resultOf !== undefined) {
      if (!isFit(resultOf, callIds)) return true;
    } else {
      hasCalls = true;
      // An id may occur again in a later turn.
      if (repeatsCallIds) ids.clear();
    }
  }
  return false;
}

/** A backslash may escape the quote that ends the text here. */
function isFit(text: string, rule: TextRule | undefined): boolean {
  return rule === undefined || (fits(text, rule) && !text.includes('\\'));
}

/** The role precedes the content of a message. */
function hasImageInResult(text: string): boolean {
  let image = text.indexOf(IMAGE);
  for (let at = text.indexOf(TOOL_ROLE); at !== -1 && image !== -1; at = text.indexOf(TOOL_ROLE, at + 1)) {
    if (image < at) image = text.indexOf(IMAGE, at);
    const next = text.indexOf(ROLE, at + 1);
    if (image !== -1 && (next === -1 || image < next)) return true;
  }
  return false;
}
