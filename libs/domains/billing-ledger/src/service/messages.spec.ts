import { GenerationFinished } from '@gateway/contracts/events';
import { parseEnding, parseFinished } from './messages';

/** A value that only a later version of the contract has. */
const UNKNOWN = Number(1_000);

/** As it comes from a router of a later version. */
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
        idempotentOutcome: { scope: 'scope-1', ending: UNKNOWN, responseJson },
      }),
    ).finish(),
  );

describe('what a router of a later version finished', () => {
  it('is settled, and an ending that is not known here is told by whether there is an answer', () => {
    expect(parseFinished(finished(Buffer.from('{}'))).idempotentOutcome?.ending).toBe('answered');
    expect(parseFinished(finished()).idempotentOutcome?.ending).toBe('failed');
    expect(parseFinished(finished()).usage).toMatchObject({ promptTokens: 3 });
  });

  it('is refused where an ending alone is told: what it does with a key cannot be guessed', () => {
    expect(() => parseEnding(UNKNOWN)).toThrow('without an ending');
  });
});
