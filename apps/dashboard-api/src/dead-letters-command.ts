import { DeadLetterState, type DeadLettersDefinition } from '@gateway/contracts/events';
import type { RpcClient } from '@gateway/rpc';

type DeadLetters = RpcClient<typeof DeadLettersDefinition>;

const PAGE_SIZE = 200;
const MAX_LISTED_PER_GROUP = 1_000;

/**
 * `dead-letters list`: the events that consumers gave up on, for an operator on call. Redelivering and discarding are
 * on the dashboard, since the audit log records who did it.
 *
 * @returns a line per consumer group with its counts, then a line per dead letter that is pending, newest first.
 */
export async function listDeadLetters(
  services: readonly Pick<DeadLetters, 'listGroups' | 'listDeadLetters'>[],
) {
  const counts: string[] = [];
  const pending: string[] = [];
  for (const service of services) {
    const { groups } = await service.listGroups({});
    for (const { group, topic, waiting, redelivering, discarded } of groups) {
      counts.push(
        `${group}/${topic}: ${waiting} pending, ${redelivering} redelivering, ${discarded} discarded`,
      );
      pending.push(...(await listPending(service, group, topic)));
    }
  }
  return counts.length === 0 ? 'No consumer group has dead letters.' : [...counts, ...pending].join('\n');
}

async function listPending(
  service: Pick<DeadLetters, 'listDeadLetters'>,
  group: string,
  topic: string,
): Promise<readonly string[]> {
  const lines: string[] = [];
  let pageToken = '';
  do {
    const { deadLetters, nextPageToken } = await service.listDeadLetters({
      group,
      topic,
      state: DeadLetterState.DEAD_LETTER_STATE_WAITING,
      pageSize: PAGE_SIZE,
      pageToken,
    });
    for (const { ref, key, attempts, failedUnixMs, reason } of deadLetters) {
      const failedAt = new Date(Number(failedUnixMs)).toISOString();
      lines.push(`${group}/${topic}/${ref?.position}  ${failedAt}  ${key}  ${attempts} attempts  ${reason}`);
    }
    pageToken = nextPageToken;
  } while (pageToken !== '' && lines.length < MAX_LISTED_PER_GROUP);
  return lines;
}
