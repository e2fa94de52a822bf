import { readFileSync } from 'node:fs';
import path from 'node:path';
import { decodePrices, encodePrices } from '@gateway/base';
import type { PriceData } from '@gateway/inference-router';
import { findPriceData, nearestModels } from '@gateway/inference-router/price-data';
import { addModel, CannotAdd, type PriceSource } from './add-model';
import { readCatalogue } from './catalogue';
import { addressOf, newProviders } from './new-providers';
import type { AddOptions } from './options';

const AT = new Date('2026-11-26T12:00:00Z');
const packaged: PriceSource = { find: findPriceData, nearest: nearestModels, name: 'the package 1.0' };
const shipped = readFileSync(path.resolve(__dirname, '../../../../models.yaml'), 'utf8');

const guide = readFileSync(path.resolve(__dirname, '../../../../docs/how-to/connect-a-provider.md'), 'utf8');

const SONNET: AddOptions = {
  command: 'add',
  file: 'models.yaml',
  provider: 'anthropic',
  providerModel: 'claude-sonnet-4-5',
  maxOutputTokens: 64_000,
  contextWindow: undefined,
  capabilities: ['tools', 'vision'],
  reasoningEfforts: undefined,
};

const add = (text: string | undefined, options: Partial<AddOptions> = {}, source = packaged) =>
  addModel(text, { ...SONNET, ...options }, source, AT);

function sourceOf(data: Partial<PriceData>): PriceSource {
  const known = {
    model: 'm',
    displayName: undefined,
    contextWindow: 100_000,
    source: 'https://prices.example',
    prices: { input_mtok: 1, output_mtok: 2 },
  };
  return { find: () => ({ ...known, ...data }), nearest: () => [], name: 'a list' };
}

const modelOf = (text: string, id = 'anthropic/claude-sonnet-4-5') => readCatalogue(text).models.get(id);

describe('adding a model', () => {
  it('writes an entry with the limits, capabilities and prices, which the loader of the gateway reads', () => {
    const model = modelOf(add(shipped).text);
    expect(model).toMatchObject({
      name: 'Claude Sonnet 4.5',
      ownedBy: 'anthropic',
      disabled: false,
      contextLength: 200_000,
      maxOutputTokens: 64_000,
      capabilities: ['tools', 'vision'],
      targets: [
        {
          providerModel: 'claude-sonnet-4-5',
          provider: { baseUrl: expect.stringContaining('https://api.anthropic.com') },
        },
      ],
    });
    expect(model && encodePrices(model.prices)).toBe(
      'input=3000000000 cached_input=300000000 cache_write=3750000000 cache_write_1h=6000000000 output=15000000000; ' +
        'above=200000 input=6000000000 cached_input=600000000 cache_write=7500000000 cache_write_1h=12000000000 output=22500000000',
    );
  });

  it('keeps every line of the file', () => {
    const { text } = add(shipped);
    const added = text.split('\n');
    for (const line of shipped.split('\n')) expect(added.splice(0, added.indexOf(line) + 1)).toContain(line);
    expect(text.length).toBeGreaterThan(shipped.length);
  });

  it('creates the file if there is none', () => {
    const { text } = add(undefined);
    expect(readCatalogue(text).models.size).toBe(1);
    expect(
      add(text, { providerModel: 'claude-haiku-4-5' }).text.startsWith(text.trimEnd().slice(0, 40)),
    ).toBe(true);
  });

  it.each([
    [
      'its name',
      'name: anthropic\n    base_url: https://proxy.example/api.anthropic.com',
      sourceOf({}),
      'anthropic',
    ],
    ['its address', 'name: claude\n    base_url: https://api.anthropic.com/v2', packaged, 'claude'],
  ])('uses a provider of the file, found by %s', (_how, fields, source, name) => {
    const file = `providers:\n  - ${fields}\nmodels:\n  - id: a/b\n    targets: [{ provider: ${name}, model: b }]\n    context_window: 10\n    max_output_tokens: 5\n    prices: { input: '1', output: '1' }\n`;
    const { text, report } = add(file, {}, source);
    expect(modelOf(text)?.targets[0]?.provider.name).toBe(name);
    expect([...readCatalogue(text).providers.keys()]).toEqual([name]);
    expect(report.join()).not.toContain('Added provider');
  });

  it.each(Object.entries(newProviders))(
    'can add the provider %s, whose address the price data knows',
    (provider, fields) => {
      const { text, report } = add(undefined, { provider, providerModel: 'm' }, sourceOf({}));
      expect(readCatalogue(text).providers.get(provider)?.baseUrl).toBe(addressOf(fields));
      expect(report[0]).toContain(fields.api_key_env);
      expect(nearestModels(addressOf(fields), 'm', 1)).toHaveLength(1);
      expect(guide).toContain(`\`${provider}\``);
    },
  );

  it('writes the date of the prices, and announced changes as a comment', () => {
    const prices = [
      { prices: { input_mtok: 1, output_mtok: 2 } },
      {
        constraint: { type: 'start_date', start_date: '2027-01-01' } as const,
        prices: { input_mtok: 3, output_mtok: 4 },
      },
    ];
    const { text, report } = add(undefined, {}, sourceOf({ prices }));
    expect(text).toContain(
      "    # Prices of a list on 2026-11-26\n    # From 2027-01-01: { input: '3', output: '4' }\n    prices:\n      input: '1'\n",
    );
    expect(report).toContain('Prices change on 2027-01-01: change them in the file then.');
  });

  it('reports prices that models.yaml cannot express', () => {
    const prices = {
      input_mtok: 1,
      output_mtok: 2,
      cache_write_mtok: 1.25,
      requests_kcount: 5,
      input_audio_mtok: 7,
    };
    const { report } = add(undefined, {}, sourceOf({ prices }));
    expect(report).toEqual([
      'Added provider anthropic. Its key is in ANTHROPIC_API_KEY.',
      'Added model anthropic/claude-sonnet-4-5, which the price data has as m.',
      'Not in models.yaml: requests_kcount: 5',
      'Not in models.yaml: input_audio_mtok: 7',
      'Check limits and prices at https://prices.example.',
    ]);
  });

  it('writes very small and very large prices as plain decimals', () => {
    const prices = { input_mtok: 1e-7, output_mtok: 99_999.999_999_999 };
    const model = modelOf(add(undefined, {}, sourceOf({ prices })).text);
    expect(model?.prices).toEqual(decodePrices('input=100 output=99999999999999'));
  });

  it('does not invent limits or capabilities: it requires those that the data does not have', () => {
    const nothing = { maxOutputTokens: undefined, capabilities: undefined };
    expect(() => add(shipped, nothing)).toThrow('  --max-output-tokens N --capabilities LIST\n');
    expect(() => add(shipped, { maxOutputTokens: undefined })).toThrow('  --max-output-tokens N\n');
    expect(() => add(shipped, {}, sourceOf({ contextWindow: undefined }))).toThrow('  --context-window N\n');
    const own = add(undefined, { contextWindow: 70_000 }, sourceOf({ contextWindow: undefined }));
    expect(modelOf(own.text)?.contextLength).toBe(70_000);
  });

  it.each<[string, Partial<AddOptions>, PriceSource, string]>([
    [
      'unknown models, with the nearest names',
      { providerModel: 'claude-sonnet4-5' },
      packaged,
      '  anthropic/claude-sonnet-4-5\n',
    ],
    [
      'unknown providers',
      { provider: 'acme' },
      packaged,
      'The file has no provider "acme". Add it by hand, or name one of anthropic, ',
    ],
    [
      'providers that the data does not know',
      { provider: 'emulator' },
      packaged,
      'does not know the provider at http://127.0.0.1',
    ],
    [
      'prices that models.yaml cannot express',
      { provider: 'deepseek', providerModel: 'deepseek-chat' },
      packaged,
      'depend on the time of day',
    ],
    ['entries that the loader refuses', { capabilities: ['flying'] }, packaged, 'capabilities[0] (line '],
    ['efforts without reasoning', { reasoningEfforts: ['low'] }, packaged, 'reasoning_efforts'],
  ])('refuses %s', (_what, options, source, message) => {
    expect(() => add(shipped, options, source)).toThrow(CannotAdd);
    expect(() => add(shipped, options, source)).toThrow(message);
  });

  it('refuses a model that the file has already', () => {
    const { text } = add(shipped);
    expect(() => add(text)).toThrow('The file has the model anthropic/claude-sonnet-4-5 already.');
  });

  it('prints the entries for a file that it cannot change without reformatting it', () => {
    const file = `providers: [{ name: p, base_url: http://p }]\nmodels: [{ id: a/b, targets: [{ provider: p, model: b }], context_window: 10, max_output_tokens: 5, prices: { input: '1', output: '1' } }]\n`;
    expect(() => add(file)).toThrow(
      /Add by hand:\n\n- name: anthropic\n[^]*- id: anthropic\/claude-sonnet-4-5\n/,
    );
  });
});
