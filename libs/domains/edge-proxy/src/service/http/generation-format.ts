import { endpointNamed, type FormatName } from '@gateway/public-api';
import type { RouteName } from './exchange';

/** Whether a request of the route runs a generation. */
export function isGeneration(route: RouteName): boolean {
  return route !== 'message_tokens' && endpointNamed(route)?.format !== undefined;
}

/** The format of the errors of a route. */
export function errorFormatOf(route: RouteName): FormatName {
  return endpointNamed(route)?.format ?? 'chat';
}
