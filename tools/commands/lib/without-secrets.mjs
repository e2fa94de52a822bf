// What of settings and log lines may be handed on.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

const REDACTED = '[redacted]';
const SECRET =
  /(_SECRET|_PASSWORD|_USERNAME|_KEY|_KEYS|_HEADERS)$|^(DATABASE_URL|DATABASE_DIRECT_URL|REDIS_URL|GATEWAY_SMTP_URL)$/;
/** Shorter ones would cut words out of everything. */
const MIN_SECRET_LENGTH = 6;

/** A setting as it may be seen: whether a secret is set, and everything else without users and passwords in URLs. */
export function describeSetting(name, value) {
  if (SECRET.test(name)) return value === '' ? '[empty]' : '[set]';
  return withoutCredentials(value);
}

function withoutCredentials(text) {
  return text.replace(/([a-z][a-z0-9+.-]*:\/\/)[^/\s@]*@/gi, `$1${REDACTED}@`);
}

/**
 * Cuts out of a text whatever is secret here, wherever it came from: values of
 * secret settings and their parts, files of such settings, what `npm start` made,
 * and what looks like a key.
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

/** Fields of lines that are ids, codes, names of ours and numbers. Texts of others are in none of them. */
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
  'untold',
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

/** A line of a log as it may be seen; undefined for one that is not JSON. */
export function tellLine(line) {
  let fields;
  try {
    fields = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (typeof fields !== 'object' || fields === null) return undefined;
  const told = FIELDS.filter((name) => ['string', 'number', 'boolean'].includes(typeof fields[name]));
  return { ...Object.fromEntries(told.map((name) => [name, fields[name]])), ...tellError(fields.err) };
}

/** Of an error its class, its code, and where it was thrown. Its text may quote anything. */
function tellError(error) {
  if (typeof error !== 'object' || error === null) return {};
  const at = String(error.stack ?? '')
    .split('\n')
    .filter((line) => /^\s+at /.test(line));
  return { err: { type: error.type, code: error.code, at: at.slice(0, 10).map((line) => line.trim()) } };
}
