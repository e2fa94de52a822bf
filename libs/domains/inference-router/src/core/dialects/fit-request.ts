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

type FitOptions = Pick<TargetOptions, 'drops' | 'forwardReasoningContent' | 'repairsToolHistory'>;

/** Changes of a chat completion that do not depend on the protocol, so that the vendor accepts it. */
export function fitRequest(body: JsonObject, rules: VendorRules, options: FitOptions): JsonObject {
  const sent = withoutFields(body, options.drops);
  const allowed = rules.allowedTools ? sent : withAllowedToolsOnly(sent);
  const named = new ToolNames(body, rules.toolNames).renamed(withoutLosers(allowed, rules));
  let messages = named['messages'] as readonly JsonObject[];
  if (needsReasoningOfCalls(rules, options)) messages = messages.map(withReasoning);
  if (options.repairsToolHistory === true) messages = repairToolHistory(messages);
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
  return withoutFields(body, losers);
}

/** Such models refuse calls of tools without their reasoning. Clients may have dropped it. */
export function needsReasoningOfCalls(
  { emptyReasoning }: VendorRules,
  { forwardReasoningContent }: Pick<FitOptions, 'forwardReasoningContent'>,
): boolean {
  return emptyReasoning && forwardReasoningContent;
}

function withReasoning(message: JsonObject): JsonObject {
  if (message['tool_calls'] === undefined || message['reasoning_content'] !== undefined) return message;
  return { ...message, reasoning_content: '' };
}

function withoutFields(object: JsonObject, names: readonly string[]): JsonObject {
  if (!names.some((name) => Object.hasOwn(object, name))) return object;
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));
}
