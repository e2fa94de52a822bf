import { enumNames } from './enum-names';
import { UsageDimension } from './generated/gateway/generation_query/v1/generation_query';

/** A tag also needs its name, so it is not here. */
export const { messageOf: usageDimensionMessage, nameOf: usageDimensionOf } = enumNames({
  day: UsageDimension.USAGE_DIMENSION_DAY,
  model: UsageDimension.USAGE_DIMENSION_MODEL,
  api_key: UsageDimension.USAGE_DIMENSION_API_KEY,
  project: UsageDimension.USAGE_DIMENSION_PROJECT,
  api_type: UsageDimension.USAGE_DIMENSION_API_TYPE,
  user: UsageDimension.USAGE_DIMENSION_USER,
});
