import { enumNames } from './enum-names';
import { UsageSource } from './generated/gateway/common/v1/money';

const { messageOf, nameOf } = enumNames({
  provider: UsageSource.USAGE_SOURCE_PROVIDER,
  counted: UsageSource.USAGE_SOURCE_COUNTED,
});

export const usageSourceOf = nameOf;

/** @param source undefined without an event of the provider. */
export function usageSourceMessage(source: Parameters<typeof messageOf>[0] | undefined): UsageSource {
  return source === undefined ? UsageSource.USAGE_SOURCE_UNSPECIFIED : messageOf(source);
}
