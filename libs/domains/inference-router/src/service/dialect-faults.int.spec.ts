import { startModelEmulator, type ModelEmulator } from '@gateway/model-emulator';
import { UsageSource } from '@gateway/contracts/common';
import type { GatewayError } from '@gateway/errors';
import { dialectNames, type DialectName } from '../core/dialects/registry';
import { emulatedModel } from '../testing/emulated-targets';
import { publicCompletionOf } from '../testing/public-message';
import { generateRequest, RouterUnderTest } from '../testing/router-under-test';

let emulator: ModelEmulator;
let router: RouterUnderTest;

/** The texts and segments are equal in all dialects. */
const TEXT = 'one two three four five six';
const PROMPT_TOKENS = 321;

type Kind = 'patient' | 'hangs' | 'stalls';

/** Timeouts of models for faults that stop the provider, in milliseconds. */
const IMPATIENT = 250;

const idOf = (dialect: DialectName, kind: Kind) => `${dialect}/${kind}`;

beforeAll(async () => {
  emulator = await startModelEmulator();
  const patient = {
    connectMs: 5_000,
    firstEventMs: 20_000,
    firstByteMs: 20_000,
    idleMs: 20_000,
    totalMs: 30_000,
  };
  const changes: Record<Kind, object> = {
    patient: {},
    hangs: { firstEventMs: IMPATIENT, firstByteMs: IMPATIENT },
    stalls: { idleMs: IMPATIENT },
  };
  router = await RouterUnderTest.start(
    dialectNames.flatMap((dialect) =>
      Object.entries(changes).map(([kind, timeouts]) =>
        emulatedModel(emulator, dialect, {
          // With a single slot, a call that kept it would fail all later ones.
          provider: {
            name: `${dialect}-${kind}`,
            timeouts: { ...patient, ...timeouts },
            maxConcurrent: 1,
          },
          model: { id: idOf(dialect, kind as Kind) },
        }),
      ),
    ),
  );
});
afterAll(async () => {
  await router.stop();
  await emulator.close();
});
beforeEach(() => {
  emulator.reset();
  router.events.length = 0;
});

/** What a client and the ledger have of a generation. */
interface Result {
  /** The code of the error, before or after the first event. */
  readonly code?: string;
  readonly content?: string | null | undefined;
  /** In the record: "error" for an error. */
  readonly finishReason: string;
  /** Calls to the provider. */
  readonly calls?: number;
  readonly usage: 'provider' | 'counted' | 'none';
}

const usageNames = {
  [UsageSource.USAGE_SOURCE_PROVIDER]: 'provider',
  [UsageSource.USAGE_SOURCE_COUNTED]: 'counted',
  [UsageSource.USAGE_SOURCE_UNSPECIFIED]: 'none',
} as const;

async function run(dialect: DialectName, fault: string, stream: boolean, kind: Kind): Promise<Result> {
  const collected = await router.collect(
    generateRequest({
      modelId: idOf(dialect, kind),
      stream,
      includeUsage: stream,
      bodyJson: Buffer.from(
        JSON.stringify({ messages: [{ role: 'user', content: `[[say:${TEXT}]] [[fault:${fault}]]` }] }),
      ),
      maxOutputTokens: 2_000,
      estimatedInputTokens: PROMPT_TOKENS,
    }),
  );
  const error = collected.error as GatewayError | undefined;
  const hasOutput = collected.finished !== undefined || collected.chunks.length > 0;
  const completion = hasOutput ? publicCompletionOf(collected) : undefined;
  const [event, ...others] = router.events;
  if (!event || others.length > 0) throw new Error(`${router.events.length} records`);
  const usage = usageNames[event.usageSource as keyof typeof usageNames];
  expect(event.errorCode).toBe(error?.code);
  if (completion?.usage) {
    expect(event.usage).toMatchObject({
      promptTokens: completion.usage.prompt_tokens,
      completionTokens: completion.usage.completion_tokens,
    });
  }
  await expectNothingLeft();
  return {
    ...(error === undefined ? {} : { code: error.code }),
    ...(completion === undefined ? {} : { content: completion.message.content }),
    finishReason: event.finishReason,
    calls: event.attempts.length,
    usage,
  };
}

/** No generation in the router, and no call in the emulator. */
async function expectNothingLeft(): Promise<void> {
  expect(await router.metric('gateway_inference_router_in_flight')).toBe(0);
  await emulator.until(({ in_flight: inFlight }) => inFlight === 0);
}

/** Before the first event. */
const failed = (code: string, calls: number): Result => ({
  code,
  finishReason: 'error',
  calls,
  usage: 'none',
});
/** After the first event of a stream. */
const interrupted = (code: string, content: string): Result => ({
  code,
  content,
  finishReason: 'error',
  calls: 1,
  usage: 'counted',
});
const whole = (changes: Partial<Result> = {}): Result => ({
  content: TEXT,
  finishReason: 'stop',
  calls: 1,
  usage: 'provider',
  ...changes,
});

interface Exception {
  readonly because: string;
  readonly streaming?: Partial<Result>;
  readonly nonStreaming?: Partial<Result>;
}

interface Row {
  readonly fault: string;
  readonly kind?: Kind;
  readonly streaming: Result;
  readonly nonStreaming: Result;
  /** How a dialect differs from OpenAI's. */
  readonly except?: Partial<Record<DialectName, Exception>>;
}

/** The result is the same with and without streaming. */
const same = (fault: string, result: Result, more: Partial<Row> = {}): Row => ({
  fault,
  streaming: result,
  nonStreaming: result,
  ...more,
});

/** A fault in the middle of the response. */
const midway = (fault: string, code: string, more: Partial<Row> = {}): Row => ({
  fault: `${fault}:3`,
  streaming: interrupted(code, 'one two three'),
  nonStreaming: failed(code, 2),
  except: {
    gemini: { because: 'every event reports the tokens so far', streaming: { usage: 'provider' } },
  },
  ...more,
});

const HUGE_BYTES = 1_048_576;

const rows: readonly Row[] = [
  same('none', whole()),
  same('slow-first-byte:20', whole()),
  same('hang', failed('request_timeout', 2), { kind: 'hangs' }),
  same('cut-before', failed('upstream_error', 2)),
  same('400', failed('invalid_request', 1)),
  same('401', failed('upstream_config_error', 1)),
  same('403', failed('upstream_config_error', 1)),
  same('404', failed('upstream_config_error', 1)),
  same('408', failed('request_timeout', 2)),
  same('429:0', failed('no_capacity', 2)),
  same('429:3600', failed('no_capacity', 1)),
  same('500', failed('upstream_error', 2)),
  same('502', failed('upstream_error', 2)),
  same('503', failed('no_capacity', 2)),
  same('504', failed('upstream_error', 2), {
    except: {
      anthropic: {
        because: 'its 504 is a timeout_error',
        streaming: { code: 'request_timeout' },
        nonStreaming: { code: 'request_timeout' },
      },
    },
  }),
  same('529', failed('no_capacity', 2), {
    except: {
      converse: {
        because: 'Bedrock has no 529, so the emulator sends an InternalServerException',
        streaming: { code: 'upstream_error' },
        nonStreaming: { code: 'upstream_error' },
      },
    },
  }),
  same('context-length', failed('context_length_exceeded', 1)),
  same('html', failed('upstream_error', 2)),
  same('redirect', failed('upstream_config_error', 1)),
  same('empty', failed('upstream_error', 2)),
  midway('stall', 'request_timeout', { kind: 'stalls' }),
  midway('cut-after', 'upstream_error'),
  midway('malformed-chunk', 'upstream_error'),
  midway('error-event', 'upstream_error'),
  midway('end-early', 'upstream_error'),
  same('no-done', whole()),
  same('no-usage', whole({ usage: 'counted' })),
  same('wrong-usage:0:0', whole({ usage: 'counted' })),
  same('wrong-usage:100000:9', whole({ usage: 'counted' })),
  same('wrong-usage:40:1000000', whole({ usage: 'counted' })),
  same('content-filter', whole({ finishReason: 'content_filter' })),
  same('crlf', whole()),
  same('comments', whole()),
  same('multi-line', whole()),
  same('byte-by-byte', whole()),
  same('huge-chunk:200000', whole({ content: ' a'.repeat(100_000) })),
  {
    fault: `huge-chunk:${HUGE_BYTES}`,
    streaming: interrupted('upstream_error', ''),
    nonStreaming: whole({ content: ' a'.repeat(HUGE_BYTES / 2) }),
    except: {
      gemini: {
        because: 'no event precedes the first text, so the call is retried',
        streaming: { ...failed('upstream_error', 2), content: undefined },
      },
      converse: {
        because: 'no event of the completion precedes the first text, so the call is retried',
        streaming: { ...failed('upstream_error', 2), content: undefined },
      },
    },
  },
  same('fail-first:1:503', whole({ calls: 2 })),
];

describe.each(dialectNames)('%s', (dialect) => {
  it.each(rows)('$fault has the result of every dialect', async ({ fault, kind = 'patient', ...row }) => {
    const except = row.except?.[dialect];
    expect(await run(dialect, fault, true, kind)).toEqual({ ...row.streaming, ...except?.streaming });
    router.events.length = 0;
    emulator.reset();
    expect(await run(dialect, fault, false, kind)).toEqual({ ...row.nonStreaming, ...except?.nonStreaming });
  });
});

it('every fault of the emulator is tested', async () => {
  const response = await fetch(`${emulator.adminUrl}/faults`);
  const { known } = (await response.json()) as { known: string[] };
  const tested = new Set(rows.map(({ fault }) => fault.split(':')[0]));
  expect(known.filter((fault) => !tested.has(fault))).toEqual([]);
});
