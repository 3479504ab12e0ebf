import { testPool } from '../../tests/support/test-pool.ts';
import { eventLogConformance } from '../ports/conformance/event-log.ts';
import { kafkaUnderTest } from './kafka-under-test.ts';

eventLogConformance('Kafka', async () => {
  const { open } = await kafkaUnderTest(await testPool(), { partitions: 1 });
  return {
    openWriter: async () => (await open()).writer(0),
    openReader: async () => (await open()).reader,
  };
});
