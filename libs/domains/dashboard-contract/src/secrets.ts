/**
 * Keys and tokens of the gateway, and keys of providers: a known prefix and at least eight more characters. A shortened one
 * such as "sk-gw-…x7Qe" is found too.
 */
const SECRET =
  /\b(?:(?:sk|mk)-gw-(?:…|[\w-]{8})|sk-(?:ant|proj|or)-[\w-]{8}|sk-[A-Za-z0-9]{20}|AIza[\w-]{8}|gsk_\w{8}|xai-\w{8})[\w…-]*/g;

/** The text with each secret shortened to its last four characters, by which keys are found. */
export function withoutSecrets(text: string): string {
  return text.replace(SECRET, (secret) => secret.slice(-4).replace('…', ''));
}
