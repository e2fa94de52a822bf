import { isAddressRange } from '@gateway/addresses';
import { listSetting } from '@gateway/runtime';
import { z } from 'zod';
import type { TlsFiles } from './tls-files';

/** Settings of each app with a public HTTP server. */
export const httpServerEnvironment = {
  GATEWAY_TRUSTED_PROXIES: listSetting
    .default([])
    .refine((ranges) => ranges.every(isAddressRange), {
      error: ({ input }) => `must be addresses or CIDR ranges; invalid: ${invalidRanges(input as string[])}`,
    })
    .describe(
      'Addresses or CIDR ranges of your proxies, separated by commas. `X-Forwarded-For` is trusted from these only. Without it IP allowlists and abuse limits see the address of the proxy.',
    ),
  GATEWAY_TLS_CERT_FILE: z
    .string()
    .optional()
    .describe(
      'PEM file with the certificate of the public API and the dashboard, intermediate certificates included. With it and `GATEWAY_TLS_KEY_FILE` they speak HTTPS (TLS 1.2 or later) without a proxy. A renewed file is used within 10 seconds.',
    ),
  GATEWAY_TLS_KEY_FILE: z
    .string()
    .optional()
    .describe('PEM file with the private key of `GATEWAY_TLS_CERT_FILE`.'),
};

export type HttpServerEnvironment = z.output<z.ZodObject<typeof httpServerEnvironment>>;

/** A certificate is useless without its key, and plain HTTP instead would be a surprise. */
export function requireBothTlsFiles(values: HttpServerEnvironment, context: z.RefinementCtx): void {
  const names = ['GATEWAY_TLS_CERT_FILE', 'GATEWAY_TLS_KEY_FILE'] as const;
  const missing = names.filter((name) => values[name] === undefined);
  if (missing.length !== 1) return;
  for (const name of missing)
    context.addIssue({ code: 'custom', path: [name], message: 'is required for HTTPS' });
}

/** @returns undefined for plain HTTP. */
export function tlsFilesOf(values: HttpServerEnvironment): TlsFiles | undefined {
  const { GATEWAY_TLS_CERT_FILE: certificateFile, GATEWAY_TLS_KEY_FILE: privateKeyFile } = values;
  if (certificateFile === undefined || privateKeyFile === undefined) return undefined;
  return { certificateFile, privateKeyFile };
}

function invalidRanges(ranges: readonly string[]): string {
  return ranges
    .filter((range) => !isAddressRange(range))
    .map((range) => JSON.stringify(range))
    .join(', ');
}
