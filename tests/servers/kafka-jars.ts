import { execFile, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

export const KAFKA_VERSION = '4.1.0';
/** From the project's root, where tests and benchmarks run; as large as the jars it holds: 43 MB. */
const CACHE = join('.cache', 'testing-servers');
const JARS = join(CACHE, `kafka-${KAFKA_VERSION}`);
const FETCH_TIMEOUT_MS = 300_000;

/** Asked for by several kinds of tests: Maven takes 0.3 s of a processor to say its version. */
let known: boolean | undefined;

export function hasKafkaJars(): boolean {
  known ??= startsJava() && (existsSync(JARS) || spawnSync('mvn', ['--version']).status === 0);
  return known;
}

function startsJava(): boolean {
  return spawnSync('java', ['-version']).status === 0;
}

/**
 * The class path of a broker. Fetched once with Maven into a folder of its own, then moved into place whole.
 */
export async function kafkaJars(): Promise<string> {
  if (!existsSync(JARS)) await fetchJars();
  return join(process.cwd(), JARS, '*');
}

async function fetchJars(): Promise<void> {
  mkdirSync(CACHE, { recursive: true });
  const folder = mkdtempSync(join(CACHE, 'fetching-'));
  try {
    writeFileSync(join(folder, 'pom.xml'), PROJECT);
    const options = ['-q', '-B', 'dependency:copy-dependencies', '-DoutputDirectory=jars'];
    await promisify(execFile)('mvn', options, { cwd: folder, timeout: FETCH_TIMEOUT_MS });
    // Of two that fetch at once one finds it there: both fetched the same.
    if (!existsSync(JARS)) renameSync(join(folder, 'jars'), JARS);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const PROJECT = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>metergate</groupId>
  <artifactId>testing-kafka</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>org.apache.kafka</groupId>
      <artifactId>kafka_2.13</artifactId>
      <version>${KAFKA_VERSION}</version>
    </dependency>
  </dependencies>
</project>
`;
