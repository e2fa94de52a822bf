import { Fragment } from 'react';
import { isEmbeddingModel, type OfferedModel } from '../../api/models';
import { count } from '../../format/count';
import { Badge } from '../../ui/notice';
import type { Column } from '../../ui/table';
import { Money } from '../../ui/values';

/** "JSON mode" for "json_mode". */
function capabilityLabel(name: string): string {
  const text = name.replaceAll('_', ' ').replace(/\bjson\b/, 'JSON');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

const OTHER_PRICES = [
  { key: 'cached_input_usd_per_million', name: 'Cached' },
  { key: 'cache_write_usd_per_million', name: 'Cache write' },
  { key: 'cache_write_1h_usd_per_million', name: 'Cache write 1h' },
  { key: 'reasoning_usd_per_million', name: 'Reasoning' },
] as const;

/** In one column, since a column of each would not fit into the window. */
function OtherPrices({ of: { prices } }: { readonly of: OfferedModel }) {
  return (
    <ul className="grid text-xs">
      {[prices, ...prices.tiers].map((tier, index) => (
        <Fragment key={index}>
          {'above_prompt_tokens' in tier && (
            <li className="mt-1 text-ink-faint">above {count(tier.above_prompt_tokens)} tokens:</li>
          )}
          {OTHER_PRICES.map(({ key, name }) => (
            <li key={key} className="flex justify-between gap-3">
              <span className="whitespace-nowrap text-ink-soft">{name}</span> <Money usd={tier[key]} />
            </li>
          ))}
        </Fragment>
      ))}
    </ul>
  );
}

/** What customers and operators see of a model: capabilities, limits and prices. */
export function modelColumns<Shown extends OfferedModel>(): readonly Column<Shown>[] {
  return [
    {
      id: 'capabilities',
      header: 'Capabilities',
      enableSorting: false,
      meta: { hide: 'tablet' },
      cell: ({ row: { original: model } }) => (
        <div className="flex max-w-52 flex-wrap gap-1">
          {model.capabilities.map((one) => (
            <Badge key={one}>{capabilityLabel(one)}</Badge>
          ))}
          {model.capabilities.length === 0 && <span className="text-ink-faint">Text only</span>}
        </div>
      ),
    },
    {
      id: 'context',
      header: 'Context',
      accessorFn: ({ context_length: length }) => length,
      meta: { figures: true, hide: 'tablet' },
      cell: ({ row: { original: model } }) => (
        <>
          {count(model.context_length)}
          <p className="text-xs text-ink-faint">
            {isEmbeddingModel(model)
              ? 'embeddings'
              : model.max_output_tokens !== null && `${count(model.max_output_tokens)} output`}
          </p>
        </>
      ),
    },
    ...(
      [
        { key: 'input_usd_per_million', header: 'Input' },
        { key: 'output_usd_per_million', header: 'Output' },
      ] as const
    ).map(({ key, header }): Column<Shown> => ({
      id: key,
      header: `${header} / 1M`,
      enableSorting: false,
      meta: { figures: true, usd: ({ prices }) => prices[key], digits: 'all' },
      cell: ({ row: { original: model } }) => (
        <>
          <Money usd={model.prices[key]} />
          {model.prices.tiers.map((tier) => (
            <p key={tier.above_prompt_tokens} className="text-xs whitespace-normal text-ink-faint">
              above {count(tier.above_prompt_tokens)} tokens: <Money usd={tier[key]} />
            </p>
          ))}
        </>
      ),
    })),
    {
      id: 'other-prices',
      header: 'Other prices / 1M',
      enableSorting: false,
      meta: { digits: 'all', hide: 'tablet' },
      cell: ({ row: { original: model } }) => <OtherPrices of={model} />,
    },
  ];
}
