import { useQuery } from '@tanstack/react-query';
import { foundKeysQuery, keyLabel } from '../../api/keys';
import { SearchSelect } from '../../ui/search-select';

interface KeySelectProps {
  readonly organizationId: string;
  readonly value: string | undefined;
  /** The labels of known keys, by id. */
  readonly keyNames: ReadonlyMap<string, string>;
  readonly emptyLabel: string;
  readonly onChange: (keyId: string | undefined) => void;
  readonly className?: string;
}

/** Selects any key of an organization, also revoked and playground keys. */
export function KeySelect({
  organizationId,
  value,
  keyNames,
  emptyLabel,
  onChange,
  className,
}: KeySelectProps) {
  const useOptions = (text: string | undefined) => {
    const found = foundKeysQuery(organizationId, 'all', text ?? '');
    const { data } = useQuery({ ...found, enabled: text !== undefined });
    return data?.map((key) => ({ id: key.id, label: keyLabel(key) }));
  };
  return (
    <SearchSelect
      value={value}
      valueLabel={value === undefined ? '' : (keyNames.get(value) ?? value)}
      emptyLabel={emptyLabel}
      useOptions={useOptions}
      onChange={onChange}
      {...(className === undefined ? {} : { className })}
    />
  );
}
