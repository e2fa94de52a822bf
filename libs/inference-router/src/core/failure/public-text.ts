/** Longest text of a provider that is shown to a caller, in characters. */
export const MAX_PUBLIC_TEXT_CHARACTERS = 400;

const HIDDEN = '[removed]';

/** What identifies us to a provider, or the provider to a caller. */
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
];

/**
 * A provider's message, fit to be shown: no keys, addresses or account ids,
 * none of the `secrets`, one line, bounded. Some SDK tools take the words
 * "rate limit" in any error for a 429, so these are replaced.
 *
 * @param renames texts that the caller knows by another name, such as the provider's model name.
 * @returns undefined when nothing readable is left.
 */
export function publicText(
  text: string,
  secrets: readonly string[],
  renames: Readonly<Record<string, string>> = {},
): string | undefined {
  let clean = text
    .slice(0, MAX_PUBLIC_TEXT_CHARACTERS * 4)

    .replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ');
  for (const secret of secrets) if (secret.length >= 3) clean = clean.replaceAll(secret, HIDDEN);
  for (const pattern of identifying) clean = clean.replace(pattern, HIDDEN);
  for (const [name, known] of Object.entries(renames)) {
    if (name.length > 0 && name !== known) clean = clean.replaceAll(name, known);
  }
  clean = clean
    .replace(/rate[\s_-]*limit/gi, 'usage limit')
    .replace(/\s+/g, ' ')
    .trim();
  if (clean.length === 0) return undefined;
  if (clean.length <= MAX_PUBLIC_TEXT_CHARACTERS) return clean;
  return `${clean.slice(0, MAX_PUBLIC_TEXT_CHARACTERS - 1).trimEnd()}…`;
}
