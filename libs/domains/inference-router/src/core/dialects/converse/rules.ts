import { exclusiveSampling } from '../claude-rules';
import type { VendorRules } from '../vendor-rules';
import type { ModelFamily } from './model-family';

/** Amazon Bedrock's API reference, and the rules of Claude for Claude. An unknown model may be Claude. */
export function rulesOf(family: ModelFamily): VendorRules {
  const mayBeClaude = family === 'anthropic' || family === 'unknown';
  return {
    // "ToolSpecification", `name`.
    toolNames: { pattern: /^[a-zA-Z0-9_-]+$/, maxLength: 64 },
    authorNames: undefined,
    // "ToolUseBlock", `toolUseId`. Claude has fewer characters.
    callIds: { pattern: mayBeClaude ? /^[a-zA-Z0-9_-]+$/ : /^[a-zA-Z0-9_.:-]+$/, maxLength: 64 },
    repeatsCallIds: false,
    // "ToolResultContentBlock", `image`: "This field is only supported by Amazon Nova and Anthropic Claude models."
    imagesInResults: mayBeClaude || family === 'nova',
    unionsInTools: !mayBeClaude,
    // "ToolChoice": auto, any and tool.
    allowedTools: false,
    emptyReasoning: false,
    blankStops: !mayBeClaude,
    exclusive: mayBeClaude ? exclusiveSampling : [],
  };
}
