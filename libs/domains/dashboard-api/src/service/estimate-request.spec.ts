import { Model } from '@gateway/contracts/inference-router';
import { createEstimator } from './estimate-request';

it('counts tokens with the organization as the owner, so that organizations take turns', async () => {
  const owners: unknown[] = [];
  const estimate = createEstimator({
    count: (text, _encoding, caller) => {
      owners.push(caller?.owner);
      return text.length;
    },
    countSize: ({ length }) => length,
  });
  const model = Model.fromPartial({
    id: 'acme/m-1',
    ...{ contextLength: 8_192, maxOutputTokens: 4_096, targetPlaces: [{ provider: 'acme', region: 'eu' }] },
    ...{ prices: {}, tokenCounting: { encoding: 'o200k_base', factor: 1 } },
  });
  const body = { model: 'acme/m-1', max_tokens: 10, messages: [{ role: 'user', content: 'Hi' }] };
  for (const organizationId of ['org-1', 'org-2']) {
    const estimated = await estimate(body, {
      organizationId,
      limits: { max_output_tokens: null, multiple_completions: false },
      targetRules: { allowedProviders: [], deniedProviders: [], allowedRegions: [], deniedRegions: [] },
      models: [model],
    });
    expect(estimated).toMatchObject({ maxOutputTokens: 10 });
  }
  expect(owners).toEqual(['org-1', 'org-2']);
});
