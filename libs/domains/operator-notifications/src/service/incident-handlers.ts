import { isIncidentCause, type Incident } from '@gateway/base';
import type { IncidentsDefinition } from '@gateway/contracts/auth';
import { GatewayError } from '@gateway/errors';
import type { RpcHandlers } from '@gateway/rpc';
import type { IncidentStore } from '../core/ports';

const MAX_INCIDENTS_PER_REPORT = 100;
const MAX_SUBJECT_CHARACTERS = 200;
const MAX_DETAILS_CHARACTERS = 300;

export function createIncidentHandlers(store: IncidentStore): RpcHandlers<typeof IncidentsDefinition> {
  return {
    async reportIncidents({ incidents }) {
      if (incidents.length > MAX_INCIDENTS_PER_REPORT) {
        const message = 'incidents has too many entries.';
        throw new GatewayError('invalid_request', { message, param: 'incidents' });
      }
      await store.report(
        incidents.flatMap(({ cause, subject, details }): Incident[] => {
          if (!isIncidentCause(cause)) return [];
          const line = { subject: lineOf(subject, MAX_SUBJECT_CHARACTERS) };
          return [{ cause, ...line, details: lineOf(details, MAX_DETAILS_CHARACTERS) }];
        }),
      );
      return {};
    },
  };
}

/** One printable line: the text goes into emails. */
function lineOf(text: string, maxCharacters: number): string {
  return text.replace(/[\p{Cc}\p{Cs}\u2028\u2029]+/gu, ' ').slice(0, maxCharacters);
}
