import { deadLetterIncidents } from './dead-letter-incidents';

const GROUPS = [
  { topic: 'generation.finished', group: 'billing-ledger' },
  { topic: 'generation.settled', group: 'usage-aggregator' },
];

it('waiting dead letters are an incident of their group; redelivered and discarded ones are none', async () => {
  const deadLetters = {
    count: async ({ group }: { readonly group: string }) =>
      group === 'billing-ledger'
        ? { waiting: 2, redelivering: 0, discarded: 0 }
        : { waiting: 0, redelivering: 1, discarded: 3 },
  };
  expect(await deadLetterIncidents({ deadLetters: deadLetters as never }, GROUPS)).toEqual([
    {
      cause: 'dead_letters',
      subject: 'generation.finished (billing-ledger)',
      details: 'dead letters: 2',
    },
  ]);
});
