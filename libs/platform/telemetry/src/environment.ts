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
  OTEL_EXPORTER_OTLP_ENDPOINT: z
    .url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' })
    .optional()
    .describe(
      'URL of an OpenTelemetry collector (OTLP over HTTP), such as `http://collector:4318`. Turns traces and log export on; without it OpenTelemetry is not loaded.',
    ),
  OTEL_EXPORTER_OTLP_HEADERS: z
    .string()
    .transform(pairsOf)
    .optional()
    .describe(
      'Headers sent to the collector, such as its API key: `name=value` pairs separated by commas, values percent-encoded.',
    ),
  OTEL_EXPORTER_OTLP_PROTOCOL: z
    .literal('http/protobuf')
    .optional()
    .describe('Protocol of the exporter; `http/protobuf` is the only one.'),
  OTEL_TRACES_EXPORTER: exporter.default('otlp').describe('`otlp`, or `none` to send no traces.'),
  OTEL_LOGS_EXPORTER: exporter
    .default('otlp')
    .describe('`otlp`, or `none` to write the log to standard output only.'),
  OTEL_TRACES_SAMPLER: z
    .enum(SAMPLERS)
    .default('parentbased_always_on')
    .describe(
      "Which traces are recorded: `always_on`, `always_off`, `traceidratio`, or `parentbased_` and one of them, which follows the sampled flag of the client's `traceparent`.",
    ),
  OTEL_TRACES_SAMPLER_ARG: z.coerce
    .number()
    .min(0)
    .max(1)
    .default(1)
    .describe('Share of traces that a ratio sampler records, from 0 to 1.'),
  OTEL_SERVICE_NAME: z
    .string()
    .min(1)
    .optional()
    .describe('Service name in traces and exported log lines. Default: the name of the process.'),
  OTEL_RESOURCE_ATTRIBUTES: z
    .string()
    .transform(pairsOf)
    .optional()
    .describe(
      'Attributes of everything that is exported, as `name=value` pairs separated by commas, such as `deployment.environment.name=production`.',
    ),
  OTEL_BSP_SCHEDULE_DELAY: delayMs
    .default(5_000)
    .describe('Milliseconds for which spans are batched before they are sent.'),
  OTEL_BLRP_SCHEDULE_DELAY: delayMs
    .default(1_000)
    .describe('Milliseconds for which log lines are batched before they are sent.'),
  OTEL_SDK_DISABLED: z
    .enum(['true', 'false'])
    .default('false')
    .transform((text) => text === 'true')
    .describe('Turns traces and log export off, whatever the other settings say.'),
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
