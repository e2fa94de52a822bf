import { UsageSource } from '@gateway/contracts/common';
import { GenerationFinished, GenerationSettled, IdempotentEnding } from '@gateway/contracts/events';
import { TOPIC_GENERATION_FINISHED, TOPIC_GENERATION_SETTLED } from '../event-log';

const DECODERS: Readonly<Record<string, (payload: Uint8Array) => object>> = {
  [TOPIC_GENERATION_FINISHED]: (payload) => GenerationFinished.decode(payload),
  [TOPIC_GENERATION_SETTLED]: (payload) => GenerationSettled.decode(payload),
};

/** Enum fields. */
const ENUMS: Readonly<Record<string, Readonly<Record<number, string>>>> = {
  usageSource: UsageSource,
  ending: IdempotentEnding,
};

/**
 * An event as a JSON object with the field names of its proto; undefined if the
 * topic is unknown or the bytes are invalid. Byte fields are reduced to their size,
 * because they contain model output, which only the client may read.
 */
export function renderPayload(topic: string, payload: Uint8Array): string | undefined {
  const decode = DECODERS[topic];
  if (!decode) return undefined;
  try {
    return JSON.stringify(rendered(decode(payload)));
  } catch {
    return undefined;
  }
}

function rendered(value: unknown, field = ''): unknown {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'number') return ENUMS[field]?.[value] ?? value;
  if (value instanceof Uint8Array) return { bytes: value.length };
  if (Array.isArray(value)) return value.map((item) => rendered(item, field));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([, each]) => each !== undefined);
  return Object.fromEntries(entries.map(([name, each]) => [protoName(name), rendered(each, name)]));
}

function protoName(name: string): string {
  return name.replace(/[A-Z]/g, (capital) => `_${capital.toLowerCase()}`);
}
