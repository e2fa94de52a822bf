import type { EncodeCall } from '../dialect';
import { needsReasoningOfCalls } from '../fit-request';
import { rulesOf } from './rules';
import type { BodyFindings } from './search-body';

const TOOL_ROLE = '"role":"tool"';
const ROLE = '"role":"';
const IMAGES = ['image_url', 'file'];

/**
 * Whether the vendor refuses the body because of a field, a name, an id, an image, a document or missing reasoning. A body that
 * only looks so is parsed in vain.
 */
export function isMisfit(found: BodyFindings, options: EncodeCall['options']): boolean {
  const rules = rulesOf(options.vendor);
  const { text, hasTools } = found;
  if (found.hasMisnamedAuthor || options.drops.some((name) => text.includes(`"${name}":`))) return true;
  if (!hasTools) return false;
  return (
    options.repairsToolHistory === true ||
    found.hasMisnamedTool ||
    found.hasMisfitCallId ||
    (!rules.allowedTools && found.words.has('allowed_tools')) ||
    (needsReasoningOfCalls(rules, options) && found.messagesWithCalls > found.messagesWithReasoning) ||
    (!rules.imagesInResults &&
      IMAGES.some((type) => found.words.has(type) && isInResult(`"type":"${type}"`, text)))
  );
}

/** The role precedes the content of a message. */
function isInResult(part: string, text: string): boolean {
  let image = text.indexOf(part);
  for (let at = text.indexOf(TOOL_ROLE); at !== -1 && image !== -1; at = text.indexOf(TOOL_ROLE, at + 1)) {
    if (image < at) image = text.indexOf(part, at);
    const next = text.indexOf(ROLE, at + 1);
    if (image !== -1 && (next === -1 || image < next)) return true;
  }
  return false;
}
