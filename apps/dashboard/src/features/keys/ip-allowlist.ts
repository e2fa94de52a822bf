/** Splits the input at whitespace, commas and semicolons. */
export function parseAllowlist(text: string): string[] {
  return text
    .split(/[\s,;]+/)
    .map((part) => part.trim())
    .filter(Boolean);
}

/** The error of the first invalid entry; undefined when all are valid. The server validates again. */
export function allowlistError(text: string): string | undefined {
  const invalid = parseAllowlist(text).find((part) => !isAddressOrRange(part));
  return invalid === undefined ? undefined : `“${invalid}” is not an IP address or CIDR range.`;
}

export function isAddressOrRange(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/');
  if (rest.length > 0) return false;
  const width = isIpv4(address) ? 32 : isIpv6(address) ? 128 : undefined;
  if (width === undefined) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= width);
}

function isIpv4(text: string): boolean {
  const parts = text.split('.');
  return parts.length === 4 && parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255);
}

/** Uses the browser's URL parser, which knows every IPv6 notation. */
function isIpv6(text: string): boolean {
  return /^[0-9a-f:.]+$/i.test(text) && text.includes(':') && URL.canParse(`http://[${text}]/`);
}
