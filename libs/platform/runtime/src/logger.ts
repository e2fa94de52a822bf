import { tracing } from '@gateway/telemetry';
import pino, { type DestinationStream, type Logger, type LoggerOptions } from 'pino';
import pretty from 'pino-pretty';

export type { Logger } from 'pino';

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';

export interface CreateLoggerOptions {
  /** The process, such as "billing-ledger". */
  readonly name: string;
  readonly level: LogLevel;
  /** For a person at a terminal; otherwise one JSON object per line. */
  readonly pretty: boolean;
  /** Standard output when absent. */
  readonly destination?: DestinationStream;
  /** Is given every line as well, finished and as JSON. Lines then name the trace that they belong to. */
  readonly onLine?: ((line: string) => void) | undefined;
}

const REDACTED = '[redacted]';

/** Fields that are never written, at any of the depths below. */
const SECRET_FIELDS = [
  'authorization',
  'Authorization',
  'proxy-authorization',
  'cookie',
  'set-cookie',
  'api_key',
  'apiKey',
  'x-api-key',
  'key_value',
  'keyValue',
  'password',
  'secret',
  'session',
  'session_token',
  'sessionToken',
];

/** How deep in a logged object a secret field is looked for: `{a}`, `{a:{b}}` … */
const REDACTION_PREFIXES = ['', '*.', '*.*.', '*.*.*.'];

/** A gateway key anywhere in a line, such as in the text of a foreign error. */
const KEY_VALUE = /sk-gw-[A-Za-z0-9_-]+/g;

/**
 * A logger that writes no secret: fields that hold one are redacted by name,
 * and whatever looks like an API key is cut out of the finished line.
 */
export function createLogger({
  name,
  level,
  pretty: forPeople,
  destination,
  onLine,
}: CreateLoggerOptions): Logger {
  const options: LoggerOptions = {
    name,
    level,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    redact: {
      paths: REDACTION_PREFIXES.flatMap((prefix) => SECRET_FIELDS.map((field) => pathOf(prefix, field))),
      censor: REDACTED,
    },
    hooks: { streamWrite: withoutKeys },
    ...(tracing() && { mixin: traceOfLine }),
  };
  const lines = destination ?? standardOutput();
  if (!forPeople) return pino(options, onLine === undefined ? lines : tee(lines, onLine));
  const format = pretty.prettyFactory({
    colorize: destination === undefined,
    translateTime: 'SYS:HH:MM:ss.l',
    ignore: 'pid,hostname',
  });
  const readable = { write: (line: string) => void lines.write(format(line)) };
  return pino(options, onLine === undefined ? readable : tee(readable, onLine));
}

/** How long lines wait for others, in milliseconds. */
const MAX_WAIT_MS = 10;

/** More is written at once. */
const MAX_WAITING_CHARACTERS = 64 * 1024;

/**
 * Lines that come shortly after each other in one write: under load each would
 * cost as much as the rest of logging. The last ones are written when the process
 * exits, and a fatal line is with all before it.
 */
function standardOutput(): DestinationStream & { flushSync(): void } {
  const output = pino.destination({ dest: 1, sync: true });
  let waiting = '';
  const flush = (): void => {
    if (waiting === '') return;
    output.write(waiting);
    waiting = '';
  };
  process.on('exit', flush);
  return {
    write(line) {
      if (waiting === '') setTimeout(flush, MAX_WAIT_MS).unref();
      waiting += line;
      if (waiting.length > MAX_WAITING_CHARACTERS) flush();
    },
    flushSync: flush,
  };
}

function tee(lines: DestinationStream, onLine: (line: string) => void): DestinationStream {
  return {
    write: (line) => {
      lines.write(line);
      onLine(line);
    },
  };
}

/** As OpenTelemetry asks of logs that are no OTLP themselves. */
function traceOfLine(): object {
  const span = tracing()?.current();
  return span === undefined ? {} : { trace_id: span.traceId, span_id: span.spanId };
}

/** A logger that writes nothing, for tests and tools. */
export function createSilentLogger(): Logger {
  return pino({ level: 'silent' });
}

function pathOf(prefix: string, field: string): string {
  if (!field.includes('-')) return `${prefix}${field}`;
  return `${prefix.replace(/\.$/, '')}["${field}"]`;
}

function withoutKeys(line: string): string {
  return line.includes('sk-gw-') ? line.replace(KEY_VALUE, `sk-gw-${REDACTED}`) : line;
}
