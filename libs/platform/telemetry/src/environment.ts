import { z } from 'zod';

const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

export type SamplerName = (typeof SAMPLERS)[number];

const delayMs = z.coerce.number().int().min(10).max(60_000);
const exporter = z.enum(['otlp', 'none']);

/** The settings of OpenTelemetry that this takes, by the names that its specification gives them. */
export const telemetryEnvironment = {
  /** Of the collector, over HTTP. Nothing of OpenTelemetry is loaded without it. */
  OTEL_EXPORTER_OTLP_ENDPOINT: z
    .url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' })
    .optional(),
  /** Sent to the collector with every batch: `name=value` pairs with commas between, values percent-encoded. */
  OTEL_EXPORTER_OTLP_HEADERS: z.string().transform(pairsOf).optional(),
  OTEL_EXPORTER_OTLP_PROTOCOL: z.literal('http/protobuf').optional(),
  OTEL_TRACES_EXPORTER: exporter.default('otlp'),
  OTEL_LOGS_EXPORTER: exporter.default('otlp'),
  OTEL_TRACES_SAMPLER: z.enum(SAMPLERS).default('parentbased_always_on'),
  /** The share of traces that a ratio samples. */
  OTEL_TRACES_SAMPLER_ARG: z.coerce.number().min(0).max(1).default(1),
  OTEL_SERVICE_NAME: z.string().min(1).optional(),
  /** Said of every span and line, as `name=value` pairs. */
  OTEL_RESOURCE_ATTRIBUTES: z.string().transform(pairsOf).optional(),
  /** How long spans, and lines of the log, are gathered before they are sent, in milliseconds. */
  OTEL_BSP_SCHEDULE_DELAY: delayMs.default(5_000),
  OTEL_BLRP_SCHEDULE_DELAY: delayMs.default(1_000),
  OTEL_SDK_DISABLED: z
    .enum(['true', 'false'])
    .default('false')
    .transform((text) => text === 'true'),
};

export type TelemetrySettings = z.output<z.ZodObject<typeof telemetryEnvironment>>;

function pairsOf(text: string, context: z.RefinementCtx): Readonly<Record<string, string>> {
  const pairs: Record<string, string> = {};
  for (const part of text.split(',').filter((each) => each.trim() !== '')) {
    const at = part.indexOf('=');
    const name = part.slice(0, at).trim();
    if (at < 1 || name === '') {
      // Without the text, which may be a secret.
      context.addIssue('must be name=value pairs with commas between');
      return z.NEVER;
    }
    try {
      pairs[name] = decodeURIComponent(part.slice(at + 1).trim());
    } catch {
      context.addIssue(`the value of ${name} is not percent-encoded`);
      return z.NEVER;
    }
  }
  return pairs;
}
