import type { CredentialSettings } from '../../core/catalogue/model-catalogue';
import type { Credential } from '../../core/credential';
import type { RefreshPorts } from './refreshed-secret';
import { EntraCredential } from './entra';
import { GoogleCredential } from './google';
import { SigV4Credential } from './sigv4';

/** The name with which AWS signs calls to Bedrock. */
const BEDROCK = 'bedrock';

/** @returns undefined for credentials that are the same headers in every call. */
export function openCredential(settings: CredentialSettings, ports: RefreshPorts): Credential | undefined {
  switch (settings.kind) {
    case 'sigv4':
      return new SigV4Credential({ ...ports, region: settings.region, service: BEDROCK });
    case 'google':
      return new GoogleCredential({ ...ports, keyFile: settings.keyFile });
    case 'entra':
      return new EntraCredential(ports);
    case 'none':
    case 'bearer':
    case 'header':
      return undefined;
  }
}
