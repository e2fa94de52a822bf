import { apiTypes, type ApiType } from '@gateway/base';
import { useQuery } from '@tanstack/react-query';
import { apiTypesQuery } from '../../api/models';
import { Field, Select } from '../../ui/field';
import { apiNames } from './api-names';

interface ApiSelectProps {
  readonly className: string;
  readonly value: ApiType | undefined;
  readonly onChange: (api: ApiType | undefined) => void;
}

/** A filter by API; hidden where only one is served. */
export function ApiSelect({ className, value, onChange }: ApiSelectProps) {
  const { data: served = [] } = useQuery(apiTypesQuery);
  if (served.length <= 1 && value === undefined) return null;
  return (
    <Field label="API">
      <Select
        className={className}
        value={value ?? ''}
        onChange={({ target }) => onChange(apiTypes.find((api) => api === target.value))}
      >
        <option value="">All</option>
        {apiTypes.map((api) => (
          <option key={api} value={api}>
            {apiNames[api]}
          </option>
        ))}
      </Select>
    </Field>
  );
}
