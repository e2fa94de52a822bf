import type { StrictKeywords } from './json-schema-strict';

// Claude's own rules, at Anthropic, Vertex AI and Bedrock.

/** Anthropic, "Structured outputs", section "JSON Schema limitations"; Amazon Bedrock, "Get validated JSON results from models". */
export const strictKeywords: StrictKeywords = {
  accepted: new Set(['type', 'title', 'required', '$ref']),
  formats: new Set([
    'date-time',
    'time',
    'date',
    'duration',
    'email',
    'hostname',
    'uri',
    'ipv4',
    'ipv6',
    'uuid',
  ]),
  minItems: new Set([0, 1]),
};

/** Anthropic, "Create a message", parameter `top_p`: "You should either alter temperature or top_p, but not both". */
export const exclusiveSampling = [['temperature', 'top_p']] as const;
