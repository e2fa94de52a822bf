import { fits, type TextRule } from '../vendor-rules';
import { rulesOf, type Vendor } from './rules';

/** What occurs in a body. Text that only looks like a field is found, too. */
export interface BodyFindings {
  readonly text: string;
  readonly hasTools: boolean;
  /** A name that no tool may have, or that no author may have. */
  readonly hasMisnamedTool: boolean;
  readonly hasMisnamedAuthor: boolean;
  /** An id of a tool call that the vendor refuses, or that occurs twice in a turn. */
  readonly hasMisfitCallId: boolean;
  readonly messagesWithCalls: number;
  readonly messagesWithReasoning: number;
  readonly others: ReadonlySet<string>;
}

/**
 * The name of a tool or an author, the id of a call, that of a result, and the words whose presence decides. The edge
 * writes bodies without white space, and quotes within strings are escaped: what precedes a colon is a field.
 */
const FIELDS =
  /"(?:name":"([^"]*)|id":"([^"]*)|tool_call_id":"([^"]*)|(tool(?:_calls":\[)?)|(developer|reasoning_content|reasoning_details|extra_content|cache_control|allowed_tools|image_url)")/g;
const TOOL_CALLS = 'tool_calls":[';

/** Searches the body once as text, since parsing a large one blocks the event loop. */
export function searchBody(body: Uint8Array, vendor: Vendor | undefined): BodyFindings {
  const { toolNames, authorNames, callIds, repeatsCallIds } = rulesOf(vendor);
  // Strings are searched in a fraction of the time of buffers. Latin-1 keeps every byte, and the fields are ASCII.
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).latin1Slice();
  const ids = new Set<string>();
  const others = new Set<string>();
  const found = {
    text,
    hasTools: false,
    hasMisnamedTool: false,
    hasMisnamedAuthor: false,
    hasMisfitCallId: false,
    messagesWithCalls: 0,
    messagesWithReasoning: 0,
    others,
  };
  FIELDS.lastIndex = 0;
  for (let match = FIELDS.exec(text); match !== null; match = FIELDS.exec(text)) {
    const [, name, id, resultOf, tool, other] = match;
    if (name !== undefined) {
      found.hasMisnamedTool ||= !isFit(name, toolNames);
      found.hasMisnamedAuthor ||= !isFit(name, authorNames);
    } else if (id !== undefined) {
      // Ids that precede the first call are of other objects.
      if (found.messagesWithCalls > 0) found.hasMisfitCallId ||= ids.has(id) || !isFit(id, callIds);
      ids.add(id);
    } else if (resultOf !== undefined) {
      found.hasTools = true;
      found.hasMisfitCallId ||= !isFit(resultOf, callIds);
    } else if (other !== undefined) {
      others.add(other);
      if (other === 'reasoning_content') found.messagesWithReasoning += 1;
    } else {
      found.hasTools = true;
      if (tool !== TOOL_CALLS) continue;
      found.messagesWithCalls += 1;
      // An id may occur again in a later turn.
      if (repeatsCallIds) ids.clear();
    }
  }
  return found;
}

/** A backslash may escape the quote that ends the text here. */
function isFit(text: string, rule: TextRule | undefined): boolean {
  return rule === undefined || (fits(text, rule) && !text.includes('\\'));
}
