import type { JsonObject } from '../completion/json';
import { withAllowedToolsOnly } from './allowed-tools';
import { withFitCallIds } from './call-ids';
import type { TargetOptions } from './dialect';
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
  return { ...named, messages: withFitCallIds(messages, rules) };
}

function withoutLosers(body: JsonObject, { exclusive }: VendorRules): JsonObject {
  const isSet = (name: string) => body[name] !== undefined && body[name] !== null;
  const losers = exclusive.flatMap(([sent, dropped]) => (isSet(sent) && isSet(dropped) ? [dropped] : []));
  if (losers.length === 0) return body;
  return Object.fromEntries(Object.entries(body).filter(([name]) => !losers.includes(name)));
}
