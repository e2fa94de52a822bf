import { GenerationSettled } from '@gateway/contracts/events';
import { decodeEvent } from './messages';

it('decodes a settlement of a later version and ignores unknown fields', () => {
  const bytes = GenerationSettled.encode(
    GenerationSettled.fromPartial({
      settledUnixMs: 1_800_000_001_000n,
      costNanoUsd: 5n,
      chargedNanoUsd: 5n,
      finished: {
        generationId: 'gen-1',
        organizationId: 'org-1',
        modelId: 'demo/small',
        createdUnixMs: 1_800_000_000_000n,
        usageSource: Number(1_000),
      },
    }),
  )
    // A field that this version does not have: number 30,000, text.
    .uint32(30_000 * 8 + 2)
    .string('of the next version')
    .finish();
  expect(decodeEvent(bytes)).toMatchObject({
    kind: 'generation',
    generation: { id: 'gen-1', usageSource: undefined, costNanoUsd: 5n },
  });
});
