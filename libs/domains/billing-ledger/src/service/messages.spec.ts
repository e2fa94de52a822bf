import { GenerationFinished } from '@gateway/contracts/events';
import { parseEnding, parseFinished } from './messages';

/** An enum value of a later version of the contract. */
const UNKNOWN = Number(1_000);

/** A message from a router of a later version. */
const finished = (responseJson?: Buffer) =>
  GenerationFinished.decode(
    GenerationFinished.encode(
      GenerationFinished.fromPartial({
        generationId: 'gen-1',
        organizationId: 'org-1',
        keyId: 'key-1',
        createdUnixMs: 1_800_000_000_000n,
        usage: { promptTokens: 3 },
        usageSource: UNKNOWN,
        endedClaim: { scope: 'scope-1', ending: UNKNOWN, responseJson },
      }),
    ).finish(),
  );

describe('a message of a later version', () => {
  it('is settled; an unknown ending counts as completed if there is a response, else as failed', () => {
    expect(parseFinished(finished(Buffer.from('{}'))).endedClaim?.ending).toBe('completed');
    expect(parseFinished(finished()).endedClaim?.ending).toBe('failed');
    expect(parseFinished(finished()).usage).toMatchObject({ promptTokens: 3 });
  });

  it('is refused if it only reports an unknown ending', () => {
    expect(() => parseEnding(UNKNOWN)).toThrow('no known ending');
  });
});
