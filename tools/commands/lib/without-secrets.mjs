// Removes secrets from settings and log lines.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

const REDACTED = '[redacted]';
const SECRET =
  /(_SECRET|_PASSWORD|_USERNAME|_KEY|_KEYS|_HEADERS)$|^(DATABASE_URL|DATABASE_DIRECT_URL|REDIS_URL|GATEWAY_SMTP_URL)$/;
/** Replacing shorter secrets would remove ordinary words. */
const MIN_SECRET_LENGTH = 6;

/** For a secret, whether it is set; for another setting, its value without credentials in URLs. */
export function describeSetting(name, value) {
  if (SECRET.test(name)) return value === '' ? '[empty]' : '[set]';
  return withoutCredentials(value);
}

function withoutCredentials(text) {
  return text.replace(/([a-z][a-z0-9+.-]*:\/\/)[^/\s@]*@/gi, `$1${REDACTED}@`);
}

/**
 * Creates a function that removes secrets from a text: values of secret settings and
 * their parts, contents of secret files, the credentials that `npm start` created, and
 * anything that looks like a key.
 */
export function createScrubber(environment, stateDirectory) {
  const secrets = new Set();
  const add = (text) => {
    for (const part of [text, ...String(text ?? '').split(/[,\s]/)]) {
      if (typeof part === 'string' && part.trim().length >= MIN_SECRET_LENGTH) secrets.add(part.trim());
    }
  };
  for (const [name, value] of Object.entries(environment)) {
    const setting = name.replace(/_FILE$/, '');
    if (!SECRET.test(setting) || !value) continue;
    if (name === setting) add(value);
    else if (existsSync(value)) add(readFileSync(value, 'utf8'));
    if (URL.canParse(value)) add(decodeURIComponent(new URL(value).password));
    for (const pair of /_HEADERS$/.test(name) ? value.split(',') : []) add(pair.slice(pair.indexOf('=') + 1));
  }
  const devFile = path.join(stateDirectory, 'dev.json');
  if (existsSync(devFile)) {
    const { apiKey, adminPassword } = JSON.parse(readFileSync(devFile, 'utf8'));
    [apiKey, adminPassword].forEach(add);
  }
  const longestFirst = [...secrets].sort((a, b) => b.length - a.length);
  return (text) => {
    let clean = text;
    for (const secret of longestFirst) {
      clean = clean.replaceAll(JSON.stringify(secret).slice(1, -1), REDACTED).replaceAll(secret, REDACTED);
    }
    return withoutCredentials(clean)
      .replace(/sk-[A-Za-z0-9_-]{6,}/g, `sk-${REDACTED}`)
      .replace(/Bearer +[^\s"\\]+/gi, `Bearer ${REDACTED}`);
  };
}

/** Log fields that contain only our ids, codes, names and numbers, never text from clients or providers. */
const FIELDS = [
  'time',
  'level',
  'name',
  'msg',
  'requestId',
  'generationId',
  'organizationId',
  'keyId',
  'modelId',
  'method',
  'route',
  'status',
  'code',
  'durationMs',
  'rpc',
  'outcome',
  'suppressed',
  'topic',
  'group',
  'failures',
  'attempts',
  'position',
  'target',
  'schema',
  'signal',
  'graceMs',
  'rpcPort',
  'adminPort',
  'trace_id',
  'span_id',
];

/** The allowed fields of a log line; undefined if it is not JSON. */
export function redactLogLine(line) {
  let fields;
  try {
    fields = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (typeof fields !== 'object' || fields === null) return undefined;
  const allowed = FIELDS.filter((name) => ['string', 'number', 'boolean'].includes(typeof fields[name]));
  return { ...Object.fromEntries(allowed.map((name) => [name, fields[name]])), ...describeError(fields.err) };
}

/** An error's class, code and stack, without its message, which may quote anything. */
function describeError(error) {
  if (typeof error !== 'object' || error === null) return {};
  const at = String(error.stack ?? '')
    .split('\n')
    .filter((line) => /^\s+at /.test(line));
  return { err: { type: error.type, code: error.code, at: at.slice(0, 10).map((line) => line.trim()) } };
}
