import { asObject, type JsonObject } from '../../completion/json';
import { refusedValue } from '../failures';
import { withoutReferences } from '../json-schema-references';

/** Encodes `tools` and `tool_choice`. Empty without tools. */
export function encodeTools(tools: unknown, toolChoice: unknown): JsonObject {
  if (!Array.isArray(tools) || tools.length === 0) return {};
  const functionDeclarations = (tools as unknown[]).map(declaration);
  const functionCallingConfig = callingConfig(toolChoice);
  return {
    tools: [{ functionDeclarations }],
    ...(functionCallingConfig === undefined ? {} : { toolConfig: { functionCallingConfig } }),
  };
}

function declaration(value: unknown, index: number): JsonObject {
  const called = asObject(asObject(value)?.['function']);
  if (!called) throw refusedValue(`tools[${index}].type`, 'the model supports functions only.');
  const { name, description } = called;
  const parameters = asObject(called['parameters']);
  return {
    name,
    ...(description === undefined ? {} : { description }),
    ...(parameters === undefined ? {} : { parametersJsonSchema: withoutReferences(parameters) }),
  };
}

/** @returns undefined for "auto", which is the default. */
function callingConfig(choice: unknown): JsonObject | undefined {
  switch (choice) {
    case undefined:
    case 'auto':
      return undefined;
    case 'none':
      return { mode: 'NONE' };
    case 'required':
      return { mode: 'ANY' };
    default: {
      const name = asObject(asObject(choice)?.['function'])?.['name'];
      if (typeof name !== 'string')
        throw refusedValue('tool_choice', 'the model does not support this choice.');
      return { mode: 'ANY', allowedFunctionNames: [name] };
    }
  }
}
