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

/** The supported settings of OpenTelemetry, with the names of its specification. */
export const telemetryEnvironment = {
  /** The collector's HTTP endpoint. Without it, telemetry is off. */
  OTEL_EXPORTER_OTLP_ENDPOINT: z
    .url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' })
    .optional(),
  /** Headers of requests to the collector: comma-separated `name=value` pairs with percent-encoded values. */
  OTEL_EXPORTER_OTLP_HEADERS: z.string().transform(pairsOf).optional(),
  OTEL_EXPORTER_OTLP_PROTOCOL: z.literal('http/protobuf').optional(),
  OTEL_TRACES_EXPORTER: exporter.default('otlp'),
  OTEL_LOGS_EXPORTER: exporter.default('otlp'),
  OTEL_TRACES_SAMPLER: z.enum(SAMPLERS).default('parentbased_always_on'),
  /** The ratio of sampled traces, for ratio samplers. */
  OTEL_TRACES_SAMPLER_ARG: z.coerce.number().min(0).max(1).default(1),
  OTEL_SERVICE_NAME: z.string().min(1).optional(),
  /** Attributes of every span and log line, as `name=value` pairs. */
  OTEL_RESOURCE_ATTRIBUTES: z.string().transform(pairsOf).optional(),
  /** How long spans and log lines are batched before export, in milliseconds. */
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
      // Do not include the text, which may be a secret.
      context.addIssue('must be name=value pairs, separated by commas');
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
