import { asObject, type JsonObject } from '../../completion/json';
import { readCachePoint, type Cacheable } from './cache-points';
import type { Turn } from './encode-messages';
import { strictKeywords } from '../claude-rules';
import { isRecursive } from '../json-schema-references';
import { strictSchema } from '../json-schema-strict';

interface Tool extends Cacheable {
  readonly name: string;
  readonly description?: unknown;
  readonly input_schema: object;
  readonly strict?: true;
}

interface ToolChoice {
  readonly type: 'auto' | 'any' | 'tool' | 'none';
  readonly name?: string;
  readonly disable_parallel_tool_use?: true;
}

export interface EncodedTools {
  readonly tools?: readonly Tool[];
  readonly tool_choice?: ToolChoice;
}

/** @param dropsStrict whether the model does not support `strict`. */
export function encodeTools(
  body: JsonObject,
  turns: readonly Turn[],
  { dropsStrict }: { readonly dropsStrict: boolean },
): EncodedTools {
  const listed = body['tools'];
  if (!Array.isArray(listed) || listed.length === 0) return calledTools(turns);
  const tools = listed.map((value: unknown) => encodeTool(asObject(value) ?? {}, dropsStrict));
  const choice = encodeChoice(body['tool_choice'], body['parallel_tool_calls'] === false);
  return { tools, ...(choice === undefined ? {} : { tool_choice: choice }) };
}

function encodeTool(tool: JsonObject, dropsStrict: boolean): Tool {
  const { name, description, parameters, strict } = asObject(tool['function']) ?? {};
  const point = readCachePoint(tool);
  const schema = { type: 'object', ...(asObject(parameters) ?? { properties: {} }) };
  // Without `strict`, the provider accepts every schema.
  const isStrict = strict === true && !dropsStrict && !isRecursive(schema);
  return {
    name: String(name),
    ...(description === undefined ? {} : { description }),
    input_schema: isStrict ? strictSchema(schema, strictKeywords) : schema,
    ...(isStrict ? { strict: true } : {}),
    ...(point === undefined ? {} : { cache_control: point }),
  };
}

function encodeChoice(choice: unknown, isSequential: boolean): ToolChoice | undefined {
  if (choice === 'none') return { type: 'none' };
  const limit = isSequential ? ({ disable_parallel_tool_use: true } as const) : {};
  const name = asObject(asObject(choice)?.['function'])?.['name'];
  if (typeof name === 'string') return { type: 'tool', name, ...limit };
  if (choice === 'required') return { type: 'any', ...limit };
  return choice === 'auto' || isSequential ? { type: 'auto', ...limit } : undefined;
}

/** The provider refuses earlier tool calls without a definition of their tools. */
function calledTools(turns: readonly Turn[]): EncodedTools {
  const names = new Set<string>();
  for (const { content } of turns) {
    for (const { type, name } of content) if (type === 'tool_use') names.add(String(name));
  }
  if (names.size === 0) return {};
  const tools = [...names].map((name) => ({ name, input_schema: { type: 'object', properties: {} } }));
  return { tools, tool_choice: { type: 'none' } };
}
