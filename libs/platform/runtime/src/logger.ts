import { tracing } from '@gateway/telemetry';
import pino, { type DestinationStream, type Logger, type LoggerOptions } from 'pino';
import pretty from 'pino-pretty';
import { loggedError } from './logged-error';

export type { Logger } from 'pino';

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';

export interface CreateLoggerOptions {
  /** The process, such as "billing-ledger". */
  readonly name: string;
  readonly level: LogLevel;
  /** Readable text for a terminal; otherwise one JSON object per line. */
  readonly pretty: boolean;
  /** Defaults to standard output. */
  readonly destination?: DestinationStream;
  /** Also receives every formatted line as JSON. */
  readonly onLine?: ((line: string) => void) | undefined;
}

const REDACTED = '[redacted]';

/** Fields that are redacted, at each depth of REDACTION_PREFIXES. */
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

/** The depths at which fields are redacted: `{a}`, `{a:{b}}` … */
const REDACTION_PREFIXES = ['', '*.', '*.*.', '*.*.*.'];

/** An API key or management token anywhere in a line, such as in the message of an error. */
const KEY_VALUE = /(sk|mk)-gw-[A-Za-z0-9_-]+/g;

/**
 * Creates a logger that writes no secrets: fields are redacted by name, and API
 * keys and management tokens by their pattern in the formatted line. Lines include the current trace.
 */
export function createLogger({
  name,
  level,
  pretty: isReadable,
  destination,
  onLine,
}: CreateLoggerOptions): Logger {
  const options: LoggerOptions = {
    name,
    level,
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: loggedError, error: loggedError, cause: loggedError },
    formatters: { level: (label) => ({ level: label }) },
    redact: {
      paths: REDACTION_PREFIXES.flatMap((prefix) => SECRET_FIELDS.map((field) => pathOf(prefix, field))),
      censor: REDACTED,
    },
    hooks: { streamWrite: withoutKeys },
    ...(tracing() && { mixin: traceOfLine }),
  };
  const lines: Lines = destination ?? standardOutput();
  if (!isReadable) return pino(options, onLine === undefined ? lines : tee(lines, onLine));
  const format = pretty.prettyFactory({
    colorize: destination === undefined,
    translateTime: 'SYS:HH:MM:ss.l',
    ignore: 'pid,hostname',
  });
  const readable = { ...lines, write: (line: string) => void lines.write(format(line)) };
  return pino(options, onLine === undefined ? readable : tee(readable, onLine));
}

/** pino flushes it after a fatal line. */
type Lines = DestinationStream & { flushSync?(): void };

/** How long lines are buffered, in milliseconds. */
const MAX_BUFFER_MS = 10;

/** A larger buffer is flushed immediately. */
const MAX_BUFFERED_CHARACTERS = 64 * 1024;

/**
 * Standard output with a short buffer: under load, a write per line would cost as
 * much as the rest of logging. The buffer is flushed when the process exits and
 * after a fatal line.
 */
function standardOutput(): Lines {
  const output = pino.destination({ dest: 1, sync: true });
  let buffered = '';
  const flush = (): void => {
    if (buffered === '') return;
    output.write(buffered);
    buffered = '';
  };
  process.on('exit', flush);
  return {
    write(line) {
      if (buffered === '') setTimeout(flush, MAX_BUFFER_MS).unref();
      buffered += line;
      if (buffered.length > MAX_BUFFERED_CHARACTERS) flush();
    },
    flushSync: flush,
  };
}

function tee(lines: Lines, onLine: (line: string) => void): Lines {
  return {
    ...lines,
    write: (line) => {
      lines.write(line);
      onLine(line);
    },
  };
}

/** Field names from OpenTelemetry's specification for logs that are not OTLP. */
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
  return line.includes('k-gw-') ? line.replace(KEY_VALUE, `$1-gw-${REDACTED}`) : line;
}
