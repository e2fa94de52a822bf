/** The maximum length of a provider's text in a public error, in characters. */
export const MAX_PUBLIC_TEXT_CHARACTERS = 400;

/** The maximum length of a provider's text in the log, in characters. */
const MAX_OPERATOR_TEXT_CHARACTERS = 1_000;

/** What providers use as codes and types: "invalid_request_error", "ThrottlingException", "429". */
const TOKEN = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;

const HIDDEN = '[removed]';

/** Patterns that identify the gateway's account at the provider, or the provider. */
const identifying: readonly RegExp[] = [
  /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s"'<>)\]]+/gi,
  /\b[\w.+-]+@[\w-]+\.[\w.-]+/g,
  /\bbearer\s+[^\s"',;]+/gi,
  /\b(?:sk|pk|rk|api|key|gsk|xai|hf|AIza)[-_][A-Za-z0-9_*.-]{6,}/g,
  /\b(?:org|proj|project|user|acct|account|req|request|chatcmpl|resp|asst|run|file)[-_][A-Za-z0-9]{6,}\b/gi,
  /\barn:[^\s"',;]+/gi,
  /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi,
  /\b(?=[\w-]*\d)[\w-]{32,}\b/g,
  /\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b/g,
  // Paths on the provider's machine.
  /(?<![\w/])\/(?:home|root|srv|opt|usr|var|etc|tmp|mnt|data|models?|app|workspace|Users)\/[^\s"'<>)\],;]*/g,
];

export interface PublicTextOptions {
  /** Removed everywhere. */
  readonly secrets?: readonly string[];
  /** Removed as whole words. */
  readonly names?: readonly string[];
  /** Whole words to replace, such as the provider's model name by the public model id. */
  readonly renames?: Readonly<Record<string, string>>;
}

/**
 * A provider's message without keys, addresses, paths and account ids, on one
 * line and bounded. Some SDK tools treat any error with the words "rate limit"
 * as a 429, so these are replaced.
 *
 * @returns undefined when no readable text remains.
 */
export function publicText(
  text: string,
  { secrets = [], names = [], renames = {} }: PublicTextOptions = {},
): string | undefined {
  let clean = wholeWords(withoutSecrets(text, secrets), MAX_PUBLIC_TEXT_CHARACTERS * 4);
  for (const name of names) if (name.length >= 3) clean = clean.replace(asWord(name), HIDDEN);
  for (const pattern of identifying) clean = clean.replace(pattern, HIDDEN);
  for (const [name, known] of Object.entries(renames)) {
    if (name.length > 0 && name !== known) clean = clean.replace(asWord(name), () => known);
  }
  return bounded(clean.replace(/rate[\s_-]*limit/gi, 'usage limit'), MAX_PUBLIC_TEXT_CHARACTERS);
}

/**
 * The message for the operator's log: only secrets are removed; one line, bounded.
 */
export function operatorText(text: string, secrets: readonly string[]): string | undefined {
  return bounded(withoutSecrets(text, secrets), MAX_OPERATOR_TEXT_CHARACTERS);
}

/** Keys, tokens, assertions and signatures: long words with a digit. */
const CREDENTIAL = /\bbearer\s+[^\s"',;]+|(?=[^\s"',;:&?<>()[\]{}]*\d)[^\s"',;:&?<>()[\]{}]{16,}/gi;

/**
 * The text of an endpoint that issues credentials, for the operator's log: it may repeat
 * secrets that this process does not know, such as an assertion that a library read from a file.
 */
export function credentialText(text: string): string | undefined {
  return operatorText(oneLine(text).replace(CREDENTIAL, HIDDEN), []);
}

/**
 * A code or type that a provider chose, for the log.
 *
 * @returns undefined when it is not a short identifier, since it could then be a text.
 */
export function operatorToken(token: string, secrets: readonly string[]): string | undefined {
  return TOKEN.test(token) && withoutSecrets(token, secrets) === token ? token : undefined;
}

/** On one line. Nothing is cut before, since a part of a secret is not recognized. */
function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets
    .flatMap((secret) => [secret, oneLine(secret)])
    .filter((secret) => secret.length >= 3)
    .reduce((clean, secret) => clean.replaceAll(secret, HIDDEN), oneLine(text));
}

function oneLine(text: string): string {
  return text.replace(/[\s\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ').trim();
}

/** Bounds the work of the patterns. A word that the limit cuts is omitted, since no pattern recognizes its part. */
function wholeWords(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text;
  return text.slice(0, text.lastIndexOf(' ', maxCharacters) + 1);
}

/** Matches the name as a whole word: not "own" in "unknown", nor "m-1" in "m-10". */
function asWord(name: string): RegExp {
  return new RegExp(`(?<![\\w-])${name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}(?![\\w-])`, 'g');
}

function bounded(text: string, maxCharacters: number): string | undefined {
  const clean = oneLine(text);
  if (clean.length === 0) return undefined;
  if (clean.length <= maxCharacters) return clean;
  return `${clean.slice(0, maxCharacters - 1).trimEnd()}…`;
}
