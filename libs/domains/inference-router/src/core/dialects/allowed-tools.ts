import { asObject, type JsonObject } from '../completion/json';
import { nameIn } from './tool-calls';

/** Sends only the tools that the choice `allowed_tools` lists, for vendors without that choice. */
export function withAllowedToolsOnly(body: JsonObject): JsonObject {
  const choice = asObject(body['tool_choice']);
  const allowed = asObject(choice?.['allowed_tools']);
  if (choice?.['type'] !== 'allowed_tools' || !allowed) return body;
  const names = new Set(functionNames(allowed['tools']));
  const listed = Array.isArray(body['tools']) ? (body['tools'] as unknown[]) : [];
  const tools = listed.filter((tool) => names.has(functionName(tool)));
  const { tools: _, tool_choice: __, ...rest } = body;
  return tools.length === 0 ? rest : { ...rest, tools, tool_choice: allowed['mode'] ?? 'auto' };
}

function functionNames(tools: unknown): readonly (string | undefined)[] {
  return Array.isArray(tools) ? tools.map(functionName) : [];
}

function functionName(tool: unknown): string | undefined {
  return nameIn(asObject(tool)?.['function']);
}
