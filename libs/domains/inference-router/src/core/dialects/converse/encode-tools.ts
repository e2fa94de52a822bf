import { asObject, type JsonObject } from '../../completion/json';
import type { CachePoints } from './cache-points';

export interface EncodedTools {
  readonly tools: JsonObject[];
  readonly toolChoice: JsonObject | undefined;
  /** The model has to call a tool. */
  readonly isForced: boolean;
}

/** Converse has no choice "none": the tools are then not sent. */
export function encodeTools(body: JsonObject, points: CachePoints): EncodedTools {
  const listed = body['tools'];
  const choice = body['tool_choice'];
  if (!Array.isArray(listed) || choice === 'none')
    return { tools: [], toolChoice: undefined, isForced: false };
  const tools: JsonObject[] = [];
  for (const value of listed as unknown[]) {
    const tool = asObject(value);
    const definition = asObject(tool?.['function']);
    if (!tool || !definition) continue;
    tools.push(encodeTool(definition));
    points.append(tools, tool, 'tools');
  }
  const toolChoice = encodeChoice(choice);
  return { tools, toolChoice, isForced: toolChoice !== undefined };
}

function encodeTool({ name, description, parameters }: JsonObject): JsonObject {
  const hasDescription = typeof description === 'string' && description.trim() !== '';
  return {
    toolSpec: {
      name,
      ...(hasDescription ? { description } : {}),
      // The type is required, but OpenAI's clients may leave it out.
      inputSchema: { json: { type: 'object', ...(asObject(parameters) ?? { properties: {} }) } },
    },
  };
}

/** "auto" is the default, and not every model accepts the field. */
function encodeChoice(choice: unknown): JsonObject | undefined {
  if (choice === 'required') return { any: {} };
  const named = asObject(asObject(choice)?.['function']);
  return named ? { tool: { name: named['name'] } } : undefined;
}
