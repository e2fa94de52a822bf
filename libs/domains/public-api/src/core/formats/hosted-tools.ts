import { isJsonObject, type JsonObject } from '../json/json-value';

/** Tools that a vendor runs itself, by the names that its clients send. */
const MESSAGES = [
  'web_search_20250305',
  'web_search_20260209',
  'web_search_20260318',
  'web_fetch_20250910',
  'web_fetch_20260209',
  'web_fetch_20260309',
  'web_fetch_20260318',
  'code_execution_20250522',
  'code_execution_20250825',
  'code_execution_20260120',
  'code_execution_20260521',
  'tool_search_tool_bm25_20251119',
  'tool_search_tool_regex_20251119',
  'advisor_20260301',
  'mcp_toolset',
];

const RESPONSES = [
  'web_search',
  'web_search_2025_08_26',
  'web_search_preview',
  'web_search_preview_2025_03_11',
  'file_search',
  'code_interpreter',
  'computer',
  'computer_use_preview',
  'image_generation',
  'mcp',
  'local_shell',
  'shell',
  'apply_patch',
  'tool_search',
  'namespace',
  'programmatic_tool_calling',
];

const HINT =
  'Hosted tools are not supported. An operator can have them removed from requests (GATEWAY_DROP_HOSTED_TOOLS).';

const hintsOf = (names: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(names.map((name) => [name, HINT]));

export const hostedToolHints = { messages: hintsOf(MESSAGES), responses: hintsOf(RESPONSES) };

/** Removes the hosted tools of a body that was not checked yet. */
export function withoutHostedTools(body: JsonObject, hosted: Readonly<Record<string, string>>): JsonObject {
  const { tools } = body;
  if (!Array.isArray(tools)) return body;
  const kept = tools.filter((tool) => {
    const type = isJsonObject(tool) && Object.hasOwn(tool, 'type') ? tool['type'] : undefined;
    return typeof type !== 'string' || !Object.hasOwn(hosted, type);
  });
  return kept.length === tools.length ? body : { ...body, tools: kept };
}
