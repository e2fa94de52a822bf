import { asObject, type JsonObject } from '../completion/json';
import { withAllowedToolsOnly } from './allowed-tools';
import { withFitAuthors } from './author-names';
import { withFitCallIds } from './call-ids';
import type { TargetOptions } from './dialect';
import { withoutTopUnions } from './json-schema-unions';
import { repairToolHistory } from './repair-tool-history';
import { withImagesAfterResults } from './result-images';
import { ToolNames } from './tool-names';
import type { VendorRules } from './vendor-rules';

/** Changes of a chat completion that do not depend on the protocol, so that the vendor accepts it. */
export function fitRequest(
  body: JsonObject,
  rules: VendorRules,
  { repairsToolHistory }: Pick<TargetOptions, 'repairsToolHistory'>,
): JsonObject {
  const allowed = rules.allowedTools ? body : withAllowedToolsOnly(body);
  const named = new ToolNames(body, rules.toolNames).renamed(withoutLosers(allowed, rules));
  let messages = named['messages'] as readonly JsonObject[];
  if (repairsToolHistory === true) messages = repairToolHistory(messages);
  if (!rules.imagesInResults) messages = withImagesAfterResults(messages);
  if (rules.authorNames) messages = withFitAuthors(messages, rules.authorNames);
  const fit = { ...named, messages: withFitCallIds(messages, rules) };
  return rules.unionsInTools ? fit : withToolsWithoutUnions(fit);
}

function withToolsWithoutUnions(body: JsonObject): JsonObject {
  const { tools } = body;
  if (!Array.isArray(tools)) return body;
  return { ...body, tools: tools.map(withoutUnions) };
}

function withoutUnions(tool: unknown): unknown {
  const called = asObject(asObject(tool)?.['function']);
  const parameters = asObject(called?.['parameters']);
  if (!parameters) return tool;
  return { ...asObject(tool), function: { ...called, parameters: withoutTopUnions(parameters) } };
}

function withoutLosers(body: JsonObject, { exclusive }: VendorRules): JsonObject {
  const isSet = (name: string) => body[name] !== undefined && body[name] !== null;
  const losers = exclusive.flatMap(([sent, dropped]) => (isSet(sent) && isSet(dropped) ? [dropped] : []));
  if (losers.length === 0) return body;
  return Object.fromEntries(Object.entries(body).filter(([name]) => !losers.includes(name)));
}
