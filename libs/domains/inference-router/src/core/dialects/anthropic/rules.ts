import { exclusiveSampling } from '../claude-rules';
import type { VendorRules } from '../vendor-rules';

/** At Anthropic, Vertex AI and Bedrock alike. */
export const rules: VendorRules = {
  // "Define tools", field `name`.
  toolNames: { pattern: /^[a-zA-Z0-9_-]+$/, maxLength: 64 },
  authorNames: undefined,
  // "Create a message", `tool_use.id`; the length is that of Bedrock.
  callIds: { pattern: /^[a-zA-Z0-9_-]+$/, maxLength: 64 },
  repeatsCallIds: false,
  // "Handle tool calls": results may have text, images and documents.
  imagesInResults: true,
  // "Define tools", `input_schema`: an object, without unions at its top.
  unionsInTools: false,
  // "Define tools", section "Forcing tool use": auto, any, tool and none.
  allowedTools: false,
  emptyReasoning: false,
  // "Create a message", `stop_sequences`: each must contain non-whitespace.
  blankStops: false,
  exclusive: exclusiveSampling,
};
