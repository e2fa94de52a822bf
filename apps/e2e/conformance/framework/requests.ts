import { pngDataUri } from '../../src/testing/png';
import type { Deployment } from './deployment';

/** A small valid body; overrides replace fields, `undefined` removes one. */
export function body(
  deployment: Deployment,
  overrides: Record<string, unknown> = {},
): Record<string, unknown> {
  return {
    model: deployment.model().id,
    max_tokens: 16,
    messages: [{ role: 'user', content: 'Hello' }],
    ...overrides,
  };
}

/** Messages with a directive for the emulator, such as "[[fault:500]]". */
export function directive(text: string): { messages: unknown[] } {
  return { messages: [{ role: 'user', content: `${text} Hello` }] };
}

/**
 * A request that fails at the provider. It uses another model than the other cases,
 * because failures open that model's circuit breaker.
 */
export function failingRequest(deployment: Deployment, fault: string): Record<string, unknown> {
  return body(deployment, { model: deployment.model(['vision']).id, ...directive(`[[fault:${fault}]]`) });
}

/** A message with an image. */
export function image(url = pngDataUri(8, 8)): { messages: unknown[] } {
  return {
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is this?' },
          { type: 'image_url', image_url: { url } },
        ],
      },
    ],
  };
}

export const weatherTool = {
  type: 'function',
  function: {
    name: 'get_weather',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
};

/** A UTC date as YYYY-MM-DD, relative to today. */
export function day(offset: number): string {
  return new Date(Date.now() + offset * 86_400_000).toISOString().slice(0, 10);
}
