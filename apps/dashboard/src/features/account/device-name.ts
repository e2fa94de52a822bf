const BROWSERS = [
  { name: 'Edge', pattern: /\bEdg(?:e|A|iOS)?\/(\d+)/ },
  { name: 'Opera', pattern: /\bOPR\/(\d+)/ },
  { name: 'Firefox', pattern: /\b(?:Firefox|FxiOS)\/(\d+)/ },
  { name: 'Chrome', pattern: /\b(?:Headless)?(?:Chrome|CriOS)\/(\d+)/ },
  { name: 'Safari', pattern: /\bVersion\/(\d+)[\d.]* (?:Mobile\/\w+ )?Safari\// },
] as const;

const SYSTEMS = [
  { name: 'iPhone', pattern: /\biPhone\b/ },
  { name: 'iPad', pattern: /\biPad\b/ },
  { name: 'Android', pattern: /\bAndroid\b/ },
  { name: 'Windows', pattern: /\bWindows\b/ },
  { name: 'macOS', pattern: /\bMac OS X\b/ },
  { name: 'Linux', pattern: /\bLinux\b/ },
] as const;

const MAX_CHARACTERS = 60;

/** Shortens a User-Agent header to "Firefox 146 on Linux", or truncates an unknown one. */
export function deviceName(device: string): string {
  const browser = BROWSERS.find(({ pattern }) => pattern.test(device));
  const system = SYSTEMS.find(({ pattern }) => pattern.test(device));
  if (!browser)
    return device.length > MAX_CHARACTERS ? `${device.slice(0, MAX_CHARACTERS)}…` : device || 'Unknown';
  const version = browser.pattern.exec(device)?.[1];
  return `${browser.name} ${version}${system ? ` on ${system.name}` : ''}`;
}
