/** The lines and comma-separated parts of what was typed. */
export function addressesIn(text: string): string[] {
  return text
    .split(/[\s,;]+/)
    .map((part) => part.trim())
    .filter(Boolean);
}

/** What is wrong with the first part that is no address or range; undefined when all are. The server decides again. */
export function faultOfAddresses(text: string): string | undefined {
  const wrong = addressesIn(text).find((part) => !isAddressOrRange(part));
  return wrong === undefined ? undefined : `“${wrong}” is neither an address nor a CIDR range.`;
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

/** The browser's own reading of an address in a URL: it knows every form of them. */
function isIpv6(text: string): boolean {
  return /^[0-9a-f:.]+$/i.test(text) && text.includes(':') && URL.canParse(`http://[${text}]/`);
}
