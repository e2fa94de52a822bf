import { maxTokensParameters, type ProviderError } from '../dialect';

/** Fields whose values come from the client, although the router writes them. */
const VALUES_OF_CLIENT: readonly string[] = ['max_tokens', 'max_completion_tokens', 'messages', 'n', 'seed'];

const UNSUPPORTED_CODES: readonly string[] = ['unsupported_parameter', 'unknown_parameter'];
const UNSUPPORTED_TEXT =
  /unsupported parameter|unrecognized (?:request )?(?:argument|parameter)|extra inputs are not permitted|unknown (?:parameter|argument|field)/i;

/** As `Dialect.refusesOwnField`: the client can fix neither a field that it did not send nor the name of the output limit. */
export function refusesOwnField(
  error: ProviderError,
  body: Uint8Array,
): 'output_limit_name' | 'other' | undefined {
  if (!isUnsupported(error)) return undefined;
  if (namesOutputLimit(error)) return 'output_limit_name';
  const field = error.param?.split(/[.[]/, 1)[0] ?? '';
  if (field === '' || VALUES_OF_CLIENT.includes(field)) return undefined;
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  return bytes.includes(`${JSON.stringify(field)}:`) ? undefined : 'other';
}

function isUnsupported({ code, message }: ProviderError): boolean {
  return UNSUPPORTED_CODES.includes(code) || UNSUPPORTED_TEXT.test(message);
}

function namesOutputLimit({ param, message }: ProviderError): boolean {
  return maxTokensParameters.some((name) => param === name || message.includes(name));
}
