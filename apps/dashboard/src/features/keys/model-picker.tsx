import { useState } from 'react';
import type { OfferedModel } from '../../api/models';
import { count } from '../../format/count';
import { Checkbox, Input } from '../../ui/field';
import { Skeleton } from '../../ui/states';
import { Id } from '../../ui/values';

interface ModelPickerProps {
  readonly models: readonly OfferedModel[] | undefined;
  /** Null: all models. */
  readonly chosen: readonly string[] | null;
  readonly onChange: (chosen: readonly string[] | null) => void;
}

/** Longer lists get a search field. */
const SEARCHABLE_LENGTH = 8;

/** Selected models that are no longer in the catalogue stay listed. */
export function ModelPicker({ models, chosen, onChange }: ModelPickerProps) {
  const [find, setFind] = useState('');
  if (!models) return <Skeleton className="h-16" />;
  const known = new Set(models.map(({ id }) => id));
  const ids = [...models.map(({ id }) => id), ...(chosen ?? []).filter((id) => !known.has(id))];
  const shown = ids.filter((id) => id.toLowerCase().includes(find.toLowerCase()));
  return (
    <div className="grid gap-2">
      <div className="grid gap-1 text-sm">
        <label className="flex items-center gap-2">
          <input
            type="radio"
            name="models"
            className="size-4 accent-accent"
            checked={chosen === null}
            onChange={() => onChange(null)}
          />
          All models, including future ones
        </label>
        <label className="flex items-center gap-2">
          <input
            type="radio"
            name="models"
            className="size-4 accent-accent"
            checked={chosen !== null}
            onChange={() => onChange([])}
          />
          Selected models{chosen !== null && chosen.length > 0 && ` (${count(chosen.length)})`}
        </label>
      </div>
      {chosen !== null && (
        <div className="rounded-md border border-line">
          {ids.length > SEARCHABLE_LENGTH && (
            <Input
              type="search"
              aria-label="Search models"
              placeholder="Search models"
              className="!rounded-b-none !border-0 !border-b"
              value={find}
              onChange={({ target }) => setFind(target.value)}
            />
          )}
          <div className="grid max-h-64 gap-2 overflow-y-auto p-3" role="group" aria-label="Models">
            {shown.map((id) => (
              <Checkbox
                key={id}
                label={<Id>{id}</Id>}
                hint={known.has(id) ? undefined : 'No longer in the catalogue'}
                checked={chosen.includes(id)}
                onChange={({ target }) =>
                  onChange(target.checked ? [...chosen, id] : chosen.filter((other) => other !== id))
                }
              />
            ))}
            {shown.length === 0 && <p className="text-sm text-ink-soft">No matches</p>}
          </div>
        </div>
      )}
    </div>
  );
}
