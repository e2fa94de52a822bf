import type { Incident } from '@gateway/base';
import type { InspectableEventLog } from './dead-letters';

/** An incident for each consumer group with waiting dead letters. */
export async function deadLetterIncidents(
  { deadLetters }: Pick<InspectableEventLog, 'deadLetters'>,
  groups: readonly { readonly topic: string; readonly group: string }[],
): Promise<readonly Incident[]> {
  const incidents = await Promise.all(
    groups.map(async ({ topic, group }): Promise<readonly Incident[]> => {
      const { waiting } = await deadLetters.count({ topic, group });
      if (waiting === 0) return [];
      return [{ cause: 'dead_letters', subject: `${topic} (${group})`, details: `dead letters: ${waiting}` }];
    }),
  );
  return incidents.flat();
}
