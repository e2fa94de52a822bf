import { useState } from 'react';
import type { OfferedModel } from '../../api/models';
import { counted } from '../../format/count';
import { Checkbox, Input } from '../../ui/field';
import { Skeleton } from '../../ui/states';
import { Id } from '../../ui/values';

interface ModelPickerProps {
  readonly models: readonly OfferedModel[] | undefined;
  readonly chosen: readonly string[];
  readonly onChange: (chosen: readonly string[]) => void;
}

/** Above this many they get a field to find them by. */
const MANY = 8;

/** None chosen means all. What a key is limited to stays in the list, also when the catalogue has it no longer. */
export function ModelPicker({ models, chosen, onChange }: ModelPickerProps) {
  const [find, setFind] = useState('');
  const [limited, setLimited] = useState(chosen.length > 0);
  if (!models) return <Skeleton className="h-16" />;
  const known = new Set(models.map(({ id }) => id));
  const ids = [...models.map(({ id }) => id), ...chosen.filter((id) => !known.has(id))];
  const shown = ids.filter((id) => id.toLowerCase().includes(find.toLowerCase()));
  return (
    <div className="grid gap-2">
      <div className="grid gap-1 text-sm">
        <label className="flex items-center gap-2">
          <input
            type="radio"
            name="models"
            className="size-4 accent-accent"
            checked={!limited}
            onChange={() => {
              setLimited(false);
              onChange([]);
            }}
          />
          Every model, those that are added later included
        </label>
        <label className="flex items-center gap-2">
          <input
            type="radio"
            name="models"
            className="size-4 accent-accent"
            checked={limited}
            onChange={() => setLimited(true)}
          />
          Only some{chosen.length > 0 && `: ${counted(chosen.length, 'model')}`}
        </label>
      </div>
      {limited && (
        <div className="rounded-md border border-line">
          {ids.length > MANY && (
            <Input
              type="search"
              aria-label="Find a model"
              placeholder="Find a model"
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
                hint={known.has(id) ? undefined : 'Not in the catalogue any more'}
                checked={chosen.includes(id)}
                onChange={({ target }) =>
                  onChange(target.checked ? [...chosen, id] : chosen.filter((other) => other !== id))
                }
              />
            ))}
            {shown.length === 0 && <p className="text-sm text-ink-soft">No model is called that.</p>}
          </div>
        </div>
      )}
    </div>
  );
}
