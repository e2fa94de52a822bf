import { fuzzRuns } from '@gateway/test-support';
import { describeRoundTrips } from '../../../testing/round-trips';

describeRoundTrips('openai', fuzzRuns());
